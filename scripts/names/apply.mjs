// Renames what `names.json` says: names of the code, files with everything that points to them, and the phrases that a script may change.
import { basename, dirname, join, relative } from 'node:path/posix'
import { readTokens } from './lexer.mjs'
import { readNames } from './scopes.mjs'

/**
 * @param {{ files: Map<string, string>, matcher: ReturnType<typeof import('./match.mjs').createMatcher>, isCode: (file: string) => boolean }} input
 *   the text of each file by its path from the root
 * @returns {{ files: Map<string, string>, moved: Map<string, string>, refused: string[] }} `files`: new texts by old path
 */
export function applyNames({ files, matcher, isCode }) {
  const refused = []
  const changed = new Map()
  const moved = movedFiles(files.keys(), matcher, refused)
  const forms = pathForms(moved, files)
  for (const [file, text] of files) {
    let result = text
    if (isCode(file)) result = renameInCode(file, result, matcher, refused)
    else result = renamePhrases(file, file.endsWith('.md') ? renameInExamples(file, result, matcher) : result, matcher)
    if (moved.size > 0)
      result = isCode(file) ? renamePaths(repoint(file, result, files, moved), forms) : renamePaths(result, forms)
    if (result !== text) changed.set(file, result)
  }
  return { files: changed, moved, refused }
}

function movedFiles(files, matcher, refused) {
  const all = new Set(files)
  const moved = new Map()
  for (const file of all) {
    const found = matcher.path(file)
    if (!found) continue
    if (all.has(found.text) || [...moved.values()].includes(found.text))
      refused.push(`${file}: ${found.text} exists already`)
    else moved.set(file, found.text)
  }
  return moved
}

function renameInCode(file, text, matcher, refused) {
  const edits = nameEdits(file, text, matcher, refused)
  const renamed = new Map(edits.map(({ start, end, text: now }) => [text.slice(start, end), now]))
  let before = ''
  for (const token of readTokens(text)) {
    const { type, at } = token
    if (type !== 'name')
      for (const found of phraseEdits(file, token.text, matcher, type === 'comment' || isTitle(before, text, at)))
        edits.push({ ...found, start: found.start + at, end: found.end + at })
    const mentions =
      type === 'comment' ? /(?<=`)\w+(?=`)/g : type === 'string' && SQL.test(token.text) ? /(?<=:)\w+/g : null
    for (const { 0: name, index } of mentions ? token.text.matchAll(mentions) : [])
      if (renamed.has(name)) edits.push({ start: at + index, end: at + index + name.length, text: renamed.get(name) })
    if (type === 'name') before = token.text
  }
  return edit(text, edits)
}

/** Statements name what is bound to them: `:name`. */
const SQL = /\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|VALUES|SET)\b/

/** Whether a string is the title of a test. */
const isTitle = (name, text, at) =>
  /^(it|describe|test|\w*[cC]ase|each)$/.test(name) && /\(\s*$/.test(text.slice(Math.max(0, at - 9), at))

function nameEdits(file, text, matcher, refused) {
  const words = new Set(text.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu))
  if (![...words].some(matcher.mayMean)) return []
  const before = readNames(file, text)
  const edits = []
  for (const { name, end } of [...before.names, ...before.tags]) {
    const found = matcher.name(name, file, { text, at: end - name.length })
    if (found) edits.push({ start: end - name.length, end, text: found.text })
  }
  if (edits.length === 0) return []
  const after = readNames(file, edit(text, edits))
  const lineAt = (index) => text.slice(0, before.names[index].start).split('\n').length
  for (const [index, meant] of before.meant.entries())
    if (after.meant[index] !== meant)
      refused.push(`${file}:${lineAt(index)} '${after.names[index].name}' would mean another declaration`)
  for (const twin of after.twins)
    if (!before.twins.includes(twin)) refused.push(`${file}: ${twin} would be there twice in one object or type`)
  return edits
}

/** Examples of a Markdown file: what stands between fences of TypeScript. */
function renameInExamples(file, text, matcher) {
  return text.replace(/^```(?:ts|js|typescript|javascript)\n[\s\S]*?^```/gm, (block) => {
    const edits = readTokens(block).flatMap(({ type, text: name, at }) => {
      const found = type === 'name' && matcher.name(name, file, { text: block, at })
      return found ? [{ start: at, end: at + name.length, text: found.text }] : []
    })
    return edit(block, edits)
  })
}

function renamePhrases(file, text, matcher) {
  return edit(text, phraseEdits(file, text, matcher, true))
}

/** Phrases, and names of the code where a sentence says them: those that no sentence has by chance. */
function* phraseEdits(file, text, matcher, isProse) {
  if (!isProse) return
  for (const row of matcher.proseRows) {
    if (row.byHand !== undefined || !row.inFile(file)) continue
    for (const match of text.matchAll(row.pattern)) {
      if (matcher.excepted('prose', match[0], file, { text, at: match.index })) continue
      yield { start: match.index, end: match.index + match[0].length, text: rephrase(match, row.new) }
    }
  }
  for (const match of text.matchAll(
    /(?<![\w$./-])[\p{L}_$][\p{L}\p{N}_$]*(?![\w$/-]|\.\p{L})|(?<=`)[\w.]+(?=[`(])/gu,
  )) {
    if (!/\p{Ll}\p{Lu}/u.test(match[0])) continue
    const found = matcher.name(match[0], file)
    if (found) yield { start: match.index, end: match.index + match[0].length, text: found.text }
  }
}

/** The new words between the spaces and line breaks of the old ones. */
function rephrase([all, ...gaps], to) {
  const words = to
    .split(' ')
    .map((word) => (all === all.toUpperCase() && /\p{L}{2}/u.test(all) ? word.toUpperCase() : word))
  if (/^\p{Lu}\p{Ll}/u.test(all)) words[0] = words[0][0].toUpperCase() + words[0].slice(1)
  const lineBreak = gaps.find((gap) => gap.includes('\n'))
  return words
    .map((word, at) => (at === 0 ? word : (at === words.length - 1 && lineBreak ? lineBreak : ' ') + word))
    .join('')
}

/** Relative imports, after files have moved: of the moved ones and to the moved ones. */
function repoint(file, text, files, moved) {
  const from = moved.get(file) ?? file
  return text.replace(/(['"])(\.\.?\/[^'"\n]*)\1/g, (all, quote, specifier) => {
    const path = join(dirname(file), specifier)
    const target = [path, path.replace(/\.js$/, '.ts')].find((candidate) => files.has(candidate))
    if (!target || (from === file && !moved.has(target))) return all
    const there = relative(dirname(from), moved.get(target) ?? target)
    const written = target === path ? there : there.replace(/\.ts$/, '.js')
    return `${quote}${written.startsWith('.') ? written : `./${written}`}${quote}`
  })
}

/** Paths wherever they are written: from a package on, as what is built from them, or by the name of the file where no other has it. */
function renamePaths(text, forms) {
  let result = text
  for (const [old, now] of forms)
    if (result.includes(old)) result = result.replaceAll(new RegExp(`(?<![\\w-])${literally(old)}(?![\\w-])`, 'g'), now)
  return result
}

function pathForms(moved, files) {
  const bases = new Map()
  for (const file of files.keys()) bases.set(basename(file), (bases.get(basename(file)) ?? 0) + 1)
  return [...moved].flatMap(([from, to]) => {
    const [written, now] = [from, to].map((path) => path.replace(/^(packages|apps)\/[^/]+\//, ''))
    const built = (path) => path.replace(/^src\//, 'dist/').replace(/ts$/, 'js')
    return [
      [written, now],
      ...(from.endsWith('.ts') ? [[built(written), built(now)]] : []),
      ...(bases.get(basename(from)) === 1 ? [[basename(from), basename(to)]] : []),
    ].filter(([old, to]) => old !== to)
  })
}

const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function edit(text, edits) {
  let result = ''
  let end = 0
  for (const { start, end: to, text: now } of [...edits].sort((a, b) => a.start - b.start)) {
    if (start < end) continue
    result += text.slice(end, start) + now
    end = to
  }
  return result + text.slice(end)
}
