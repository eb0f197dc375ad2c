// The thread that calls the functions. Sources are run as they are: see docs/decisions/0001.
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'

const { root, functions, seed, full } = workerData

registerHooks({
  resolve: (name, context, next) => {
    const isSource = /^\..*\.js$/.test(name) && context.parentURL?.endsWith('.ts')
    const conditions = [...context.conditions, '@hermes/source']
    return next(isSource ? `${name.slice(0, -2)}ts` : name, { ...context, conditions })
  },
})

const [SMALL, LARGE, LIMIT_MS] = full ? [64_000, 1_024_000, 50] : [16_000, 64_000, 50]
/** How much more than its length the time of a text may grow, for garbage. */
const MAX_EXCESS = 2.25
/** The longest text takes at most so long, however its time grows. Short ones are given more: other work beside is most of what they measure. */
const MOST_MS = full ? LIMIT_MS : 500
/** Two measures of the same work differ by that much where others work beside. */
const NOISE = 1.5
/** What takes less than that for a short text stays below the limit for a long one, even by the square of its length. */
const QUICK_MS = LIMIT_MS / (LARGE / SMALL) ** 2 / 2
/** Processor time of `fixedWork` on a machine that does nothing else. */
const REFERENCE_MS = 10
const TEXTS_EACH = 8

const PIECES = [
  ...[
    'a',
    'A',
    'aB',
    'acgt',
    '1',
    '1.',
    '0x',
    '漢',
    'あ',
    'ไทย',
    'é',
    'e\u0301',
    '\u200d',
    '👩‍👩‍👧',
    'ß',
    'İ',
    '\u00a0',
    '\ufeff',
  ],
  ...[
    ' ',
    '\n',
    '\t',
    '\r',
    '\r\n',
    'a ',
    'a\n',
    ' \n',
    '\u0000',
    '\b',
    '\u001b',
    '\u001b[',
    '\u001b[31m',
    '\u001b]',
    '\u202e',
  ],
  ...[
    '<',
    '</',
    '<a',
    '<think>',
    '</think>',
    '<!--',
    '-->',
    '(',
    ')',
    '((a',
    '[',
    '[[',
    ']',
    '{',
    '{"a":',
    '}',
    '"',
    '""',
    "'",
    '\\',
    '\\n',
  ],
  ...[
    '`',
    '```',
    '```\n',
    '$(',
    '${',
    '$',
    '$a',
    '&',
    '&& ',
    '; ',
    ';',
    '|',
    '||',
    '<<EOF\n',
    '> ',
    '2>&1',
    'rm ',
    'env ',
    'sudo ',
    'A=1 ',
  ],
  ...[
    'if ',
    'for i in ',
    'do ',
    'done;',
    'echo a;',
    '!',
    '?',
    '%',
    '%20',
    '^',
    '+',
    '=',
    '==',
    'x=',
    '-',
    '--',
    '-a ',
    '- ',
    '? ',
    '_',
    'a_',
  ],
  ...[
    '*',
    '**',
    '*a',
    '#',
    '# ',
    '~',
    '§',
    '§\n',
    '/',
    '//',
    '../',
    './',
    '.',
    '..',
    'a.',
    '@',
    '@file:',
    '@file:a ',
    'http://a',
    'https://a.b/',
  ],
  ...[
    'a@b',
    'user:pass@',
    'data:',
    'base64,',
    'QUJD',
    'sk-',
    'ghp_',
    'eyJ',
    'eyJhbGciOi.',
    'AKIA',
    '-----BEGIN ',
    '*** Begin Patch\n',
  ],
  ...[
    '*** Update File: a\n',
    '@@\n',
    '+a\n',
    '-a\n',
    'diff --git ',
    ',',
    'a,',
    ':',
    'a: ',
    'ignore previous ',
    'you are ',
    'please ',
  ],
]
const SHAPES = [
  (piece, length) => piece.repeat(Math.ceil(length / piece.length)),
  (piece, length) => `x${piece.repeat(Math.ceil(length / piece.length))}!`,
]
const { signal } = new AbortController()
const OTHERS = {
  ...{ default: undefined, text: 'a', number: 100, boolean: true, function: (text) => text, list: [], signal },
  ...{ set: new Set(), map: new Map(), object: { signal, maxChars: 1_000 } },
}

let state = seed >>> 0
/** @see https://en.wikipedia.org/wiki/Linear_congruential_generator */
const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32

for (const taker of functions) {
  const call = (await import(pathToFileURL(join(root, taker.file)).href))[taker.name]
  const others = taker.others.map((kind) => OTHERS[kind])
  const large = Math.min(LARGE, taker.mostChars)
  const { threadMs } = taker
  const target = { call, others, large, small: Math.min(SMALL, large / 4), threadMs }
  for (const { piece, shape } of textsFor(taker)) {
    const text = `${JSON.stringify(piece)} again and again${shape === SHAPES[1] ? ', between two letters' : ''}`
    parentPort.postMessage({ type: 'text', text })
    const growth = await slowest(() => measure(target, piece, shape))
    if (growth === null) continue
    parentPort.postMessage({ type: 'slow', problem: `${text}: ${growth}` })
    break
  }
  parentPort.postMessage({ type: 'done' })
}
process.exit(0)

function textsFor({ pieces }) {
  const all = [...new Set([...PIECES, ...pieces])].flatMap((piece) => SHAPES.map((shape) => ({ piece, shape })))
  if (full) return all
  return all
    .map((text) => ({ text, rank: random() }))
    .sort((left, right) => left.rank - right.rank)
    .slice(0, TEXTS_EACH)
    .map(({ text }) => text)
}

/** A measure counts only when it comes out the same three times: other work on the machine slows single ones. */
async function slowest(once) {
  let last = null
  for (let time = 0; time < 3; time++) {
    last = await once()
    if (last === null) return null
  }
  return last
}

async function measure({ call, others, small: short, large: length, threadMs }, piece, shape) {
  const small = await cost(call, others, shape(piece, short))
  if (small < QUICK_MS) return null
  const large = await cost(call, others, shape(piece, length))
  if (large <= LIMIT_MS) return null
  // A machine that is slow now is slow for the long text alone, where the short one came before.
  const slower = Math.max(1, fixedWork() / REFERENCE_MS)
  if (large <= LIMIT_MS * slower) return null
  const limit = (threadMs ?? MOST_MS) * NOISE * slower
  // A thread that takes long holds nothing up, however its time grows.
  const isTooLong = large > limit || (threadMs === undefined && large > small * (length / short) * MAX_EXCESS)
  return isTooLong
    ? `${Math.round(small)} ms at ${short / 1000} KB, ${Math.round(large)} ms at ${length / 1000} KB (limit ${Math.round(limit)})`
    : null
}

/** Goes up with the time of functions where the machine is slower, or where programs share a core. */
function fixedWork() {
  const start = process.threadCpuUsage()
  let count = 0
  for (let round = 0; round < 4; round++)
    count += `${'word 1.5, '.repeat(25_000)}${round}`.replace(/[\s,]+/g, ' ').length
  const { user, system } = process.threadCpuUsage(start)
  return count > 0 ? (user + system) / 1_000 : 0
}

/** Milliseconds of this thread. */
async function cost(call, others, text) {
  const start = process.threadCpuUsage()
  try {
    const result = await call(text, ...others)
    if (typeof result?.next === 'function') for (const _ of result);
  } catch {
    // Not every text is one it takes.
  }
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1_000
}
