import { HermesError, nearestName } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import type { Issue } from './check-field.js'
import { checkField, describeValue, isMap } from './check-field.js'
import type { YamlEdit } from './edit-yaml.js'
import { editYaml } from './edit-yaml.js'
import { hasReference } from './expand.js'
import type { Field } from './field.js'
import { readToEdit } from './files.js'
import type { HermesConfig } from './hermes-config.js'
import { homeLayout } from './home.js'
import { checkValues, faultOf, issueProblem } from './load-config.js'
import { fieldAt, keyPath, PLATFORM_SECTIONS, SCHEMA } from './schema.js'
import { parseYaml } from './yaml-file.js'

/**
 * Sets one value of `config.yaml`, atomically and with mode 0600; comments and order stay. The text is read as the type the key wants: a
 * list is JSON or separated by commas. A key below a known section may be any
 * that does not look like a typing error; it is read as JSON where that makes sense. Of two
 * processes that write at once, the later wins.
 * @throws HermesError `config.unknown_key`, `config.invalid_value`, `config.broken` (with file, line and column), `files.not_writable`, `config.unreadable`
 */
export async function setConfigValue(options: {
  readonly home: string
  readonly key: string
  readonly value: string
}): Promise<void> {
  const { home, key } = options
  const value = parseValue(key, options.value)
  const named = keyPath(key)
  const field = fieldAt(named)
  // A plain text for a section is its main key, so that the rest of the section stays.
  const path = field?.type === 'section' && field.shorthand && !isMap(value) ? [...named, field.shorthand] : named
  const text = await readSound(home)
  await checkKey(path, text)
  const edited = await editYaml(text, (edit) => {
    openWay(edit, path)
    edit.set(placeOf(edit, path), value)
  })
  await save(home, text, edited)
}

/**
 * Changes a list of `config.yaml`, atomically and with mode 0600; comments, order and the items that stay are left as they are.
 * References such as `${NAME}` are given as they are written.
 * @throws HermesError `config.unknown_key`, `config.broken` (with file, line and column), `files.not_writable`, `config.unreadable`
 */
export async function changeConfigList(options: {
  readonly home: string
  readonly key: string
  readonly change: (items: readonly unknown[]) => readonly unknown[]
}): Promise<void> {
  const { home, key, change } = options
  const path = keyPath(key)
  const text = await readSound(home)
  await checkKey(path, text)
  const edited = await editYaml(text, (edit) => {
    const items = edit.get(path)
    openWay(edit, path)
    edit.set(path, change(Array.isArray(items) ? items : []))
  })
  await save(home, text, edited)
}

/**
 * Removes one key from `config.yaml`, so that its default counts again; does nothing when it is not there.
 * @throws HermesError `config.broken` (with file, line and column), `files.not_writable`, `config.unreadable`
 */
export async function unsetConfigValue({ home, key }: { readonly home: string; readonly key: string }): Promise<void> {
  const text = await readSound(home)
  const path = keyPath(key)
  let found = false
  const edited = await editYaml(text, (edit) => {
    for (const place of new Set([path.join('.'), key])) {
      const names = place.split('.')
      const parent = fieldAt(names.slice(0, -1))
      const shorthand =
        parent?.type === 'section' && parent.shorthand === names.at(-1) && !isMap(edit.get(names.slice(0, -1)))
      const target = shorthand ? names.slice(0, -1) : placeOf(edit, names)
      found ||= edit.has(target)
      edit.remove(target)
    }
  })
  if (found) await save(home, text, edited)
}

/**
 * Sets what a key of an extension holds below `path`, or removes it with `null`, atomically and with mode 0600; comments and order stay, and
 * references such as `${NAME}` are kept as they are given. The extension has checked it.
 * @throws HermesError `config.broken` (with file, line and column), `files.not_writable`, `config.unreadable`
 */
export async function setOwnValue(options: {
  readonly home: string
  readonly path: readonly string[]
  readonly value: object | null
}): Promise<void> {
  const { home, path, value } = options
  const text = await readSound(home)
  const edited = await editYaml(text, (edit) => {
    if (value === null) edit.remove(path)
    else {
      openWay(edit, path)
      edit.set(path, value)
    }
  })
  await save(home, text, edited)
}

function parseValue(key: string, text: string): unknown {
  const field = fieldAt(keyPath(key))
  if (field === null) return parseFree(text)
  const value = parseFor(field, text)
  if (hasReference(text)) return value
  const issues: Issue[] = []
  const checked = checkField(field, value, keyPath(key), { issues })
  const issue = issues[0]
  if (issue) throw invalidValue(issue.path.join('.'), issue.expected, issue.found)
  // Only single values are written as checked: a section would get its defaults written into the file.
  return isMap(value) || Array.isArray(value) || value === '' ? value : isMap(checked) ? text : checked
}

function parseFor(field: Field, text: string): unknown {
  switch (field.type) {
    case 'texts':
    case 'list':
      if (text.trim().startsWith('[')) return parseJson(text) ?? text
      return text.split(',').flatMap((item) => item.trim() || [])
    case 'map':
    case 'record':
    case 'section':
      return text.trim().startsWith('{') ? (parseJson(text) ?? text) : text
    default:
      return text
  }
}

/** What a text means for a key that the schema does not know: JSON, unless digits would be lost, else the text. */
function parseFree(text: string): unknown {
  const value = parseJson(text)
  return value === undefined || (typeof value === 'number' && String(value) !== text) ? text : value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

async function readSound(home: string): Promise<string> {
  const file = homeLayout(home).config
  const text = await readToEdit(file)
  const fault = faultOf(file, await parseYaml(text))
  if (fault) throw broken(fault.message)
  return text
}

const VARIABLE = /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/

async function checkKey(path: readonly string[], text: string): Promise<void> {
  const known = Object.keys(SCHEMA.fields)
  const top = path[0]!
  const { value } = await parseYaml(text)
  if (path.every((name) => name !== '') && (known.includes(top) || (isMap(value) && Object.hasOwn(value, top))))
    return refuseUnknown(path, value)
  if (VARIABLE.test(top))
    throw new HermesError(
      `${top} is a variable, not a key of config.yaml: it belongs into the file .env beside it. Keys of model providers are kept by \`hermes auth add\`.`,
      { code: 'config.unknown_key' },
    )
  const meant = nearestName(top, known)
  const hint =
    meant === null ? `Its keys: ${known.join(', ')}.` : `Did you mean ${[meant, ...path.slice(1)].join('.')}?`
  throw new HermesError(`config.yaml has no key "${path.join('.')}". ${hint}`, { code: 'config.unknown_key' })
}

/** A key that the file has already was meant. */
function refuseUnknown(path: readonly string[], value: unknown): void {
  let place = value
  for (const [depth, name] of path.entries()) {
    const section = fieldAt(path.slice(0, depth))
    place = isMap(place) && Object.hasOwn(place, name) ? place[name] : undefined
    if (section?.type !== 'section' || Object.hasOwn(section.fields, name) || place !== undefined) continue
    if (section.aliases && Object.hasOwn(section.aliases, name)) continue
    const known = Object.keys(section.fields)
    const meant = nearestName(name, known)
    // A platform of an extension, which is known once the home is open.
    if (depth === 1 && meant === null && PLATFORM_SECTIONS.includes(path[0]!)) return
    const right = [...path.slice(0, depth), meant, ...path.slice(depth + 1)].join('.')
    const there = path.slice(0, depth).join('.')
    const hint =
      meant === null ? `It would have no effect. Keys of ${there}: ${known.join(', ')}.` : `Did you mean ${right}?`
    throw new HermesError(`config.yaml has no key "${path.join('.')}". ${hint}`, { code: 'config.unknown_key' })
  }
}

/** Makes room for a key below another: a plain text becomes a map where the schema has a place for the text. */
function openWay(edit: YamlEdit, path: readonly string[]): void {
  for (let length = 1; length < path.length; length++) {
    const parent = path.slice(0, length)
    const value = edit.get(parent)
    if (value === null || value === undefined || isMap(value)) continue
    const field = fieldAt(parent)
    if (field?.type !== 'section' || !field.shorthand || typeof value === 'object')
      throw invalidValue(parent.join('.'), 'a map before a key below it can be set', value)
    edit.set(parent, value === '' ? {} : { [field.shorthand]: value })
  }
}

/** Where a key stands in this file: under its other name when only that one is there. */
function placeOf(edit: YamlEdit, path: readonly string[]): readonly string[] {
  const parent = path.slice(0, -1)
  const field = fieldAt(parent)
  if (field?.type !== 'section' || edit.has(path)) return path
  const alias = Object.keys(field.aliases ?? {}).find((name) => field.aliases![name] === path.at(-1))
  return alias !== undefined && edit.has([...parent, alias]) ? [...parent, alias] : path
}

/** Writes the edited text. A file with wrong values is only touched by an edit that fixes one of them. */
async function save(home: string, before: string, after: string): Promise<void> {
  const file = homeLayout(home).config
  const [old, edited] = [await issuesOf(file, before), await issuesOf(file, after)]
  if (edited.length > 0 && edited.length >= old.length) throw broken(edited[0]!)
  await writePrivate(file, after)
}

async function issuesOf(file: string, text: string): Promise<string[]> {
  const yaml = await parseYaml(text)
  const fault = faultOf(file, yaml)
  if (fault) return [fault.message]
  const { issues } = checkValues(yaml.value, yaml)
  return issues.filter(({ found }) => !hasReference(found)).map((issue) => issueProblem(file, yaml, issue).message)
}

function broken(message: string): HermesError {
  return new HermesError(`${message} Fix this first; nothing was written.`, { code: 'config.broken' })
}

function invalidValue(key: string, expected: string, found: unknown): HermesError {
  return new HermesError(`${key} must be ${expected}, found ${describeValue(found)}. Nothing was written.`, {
    code: 'config.invalid_value',
  })
}

/** The value at a dotted key (`agent.max_turns`, `fallback_providers.0`); `undefined` when there is none. */
export function getConfigValue(config: HermesConfig, key: string): unknown {
  return keyPath(key).reduce<unknown>((value, name) => {
    if (!isMap(value) && !Array.isArray(value)) return undefined
    return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  }, config)
}
