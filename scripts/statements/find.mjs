import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

const STATEMENT = /^(?:select|insert|update|delete|with|alter|drop)\s/
const PLACEHOLDER = /(?:\$\d+|[:@][a-z_]\w*|\?\d*)(?:::[a-z0-9]+(?:\[\])?)?/gi

/** The statements written in the sources of `folder`, each with its place and in a form that two dialects share. */
export function findStatements(root, folder) {
  const files = globSync(`${folder}/**/*.ts`, { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  return files.sort().flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    return textsIn(file, source)
      .map(({ text, start }) => ({ text: normal(text), place: `${file}:${lineAt(source, start)}` }))
      .filter(({ text }) => STATEMENT.test(text))
  })
}

/** Statements that both lists have, each once. */
export function inBoth(left, right) {
  const places = new Map(right.map(({ text, place }) => [text, place]))
  const common = left.filter(({ text }, at) => places.has(text) && left.findIndex((one) => one.text === text) === at)
  return common.map(({ text, place }) => ({ text, left: place, right: places.get(text) }))
}

function textsIn(file, source) {
  const found = []
  const add = (start, text) => found.push({ start, text })
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be read: ${errors[0].message}`)
  new Visitor({
    Literal: ({ start, value }) => typeof value === 'string' && add(start, value),
    TemplateLiteral: ({ start, quasis, expressions }) => {
      const named = expressions.map((one) => `{${source.slice(one.start, one.end)}}`)
      add(start, quasis.map(({ value }, at) => value.cooked + (named[at] ?? '')).join(''))
    },
  }).visit(program)
  return found
}

/** Without what dialects, or two hands, write differently: placeholders, names of results in quotes, blanks, capitals. */
function normal(text) {
  return text.replace(PLACEHOLDER, '?').replaceAll('"', '').replace(/\s+/g, ' ').trim().toLowerCase()
}

function lineAt(source, start) {
  return source.slice(0, start).split('\n').length
}
