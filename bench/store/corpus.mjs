// The conversations the store is measured with: made from a seed, the same every time. Words are as unequally common as in real
// texts, results of tools make up most of it, names and hashes occur once, and one session in seventeen is Chinese.

const ONSETS = 'b c d f g h j k l m n p r s t v w st tr pl cr fl sh ch gr'.split(' ')
const VOWELS = 'a e i o u ea ou ai io'.split(' ')
const ENDS = ' n r s t l d ng ct m'.split(' ')
const TOOLS = ['terminal', 'read_file', 'patch', 'search_files']
const SOURCES = ['cli', 'telegram', 'gateway', 'cron']
const START_MS = 1_600_000_000_000
const STEP_MS = 60_000

/** @returns {() => number} numbers from 0 to 1 (mulberry32) */
export function createRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * Sessions of 10 to 70 messages, `count` messages in all.
 * @returns {Generator<{ id: string, source: string, messages: { atMs: number, role: string, content: string | null,
 *   callId?: string, tool?: string, args?: object }[] }>}
 */
export function* createCorpus(count, seed = 1) {
  const random = createRandom(seed)
  const make = createWriter(random)
  let made = 0
  for (let number = 0; made < count; number++) {
    const messages = []
    const isChinese = random() < 0.06
    const length = Math.min(count - made, 10 + Math.floor(random() * 60))
    while (messages.length < length)
      messages.push({ atMs: START_MS + made++ * STEP_MS, ...make(messages.length, isChinese) })
    const id = `20260101_000000_${number.toString(16).padStart(6, '0')}`
    yield { id, source: SOURCES[number % SOURCES.length], messages }
  }
}

/** A message of the corpus as the store takes it. */
export function toEntry({ role, content, callId, tool, args }) {
  const text = content === null ? [] : [{ type: 'text', text: content }]
  if (role === 'tool') return { type: 'message', message: { role, callId, toolName: tool, content: text } }
  const calls = args ? [{ type: 'tool-call', id: callId, name: tool, args, rawArgs: JSON.stringify(args) }] : []
  return { type: 'message', message: { role, content: [...text, ...calls] } }
}

function createWriter(random) {
  const upTo = (limit) => Math.floor(random() * limit)
  const words = createWords(120_000, upTo)
  const word = () => words[Math.floor(words.length ** random()) - 1]
  const text = (length) => Array.from({ length }, () => word() + (random() < 0.08 ? '.' : '')).join(' ')
  const chinese = (length) =>
    Array.from({ length }, () =>
      random() < 0.06 ? '，' : String.fromCharCode(0x4e00 + Math.floor(3_000 ** random())),
    ).join('')
  const path = () => `src/${word()}/${word()}-${word()}.ts`
  const hash = () => upTo(2 ** 32).toString(16)
  const line = () => (random() < 0.1 ? `${path()}:${upTo(900)} ${hash()}` : text(3 + upTo(9)))
  return (index, isChinese) => {
    const kind = random()
    if (index === 0 || kind < 0.12)
      return { role: 'user', content: isChinese ? chinese(10 + upTo(40)) : text(6 + upTo(30)) }
    const tool = TOOLS[upTo(TOOLS.length)]
    const callId = `call_${hash()}${hash()}${hash()}`
    if (kind < 0.56) {
      const content = random() < 0.5 ? null : isChinese ? chinese(20 + upTo(150)) : text(10 + upTo(90))
      return { role: 'assistant', content, callId, tool, args: { path: path(), pattern: text(2), limit: upTo(500) } }
    }
    const lines = Array.from({ length: Math.floor(2 + 60 ** random()) }, (_, number) => `${number + 1}| ${line()}`)
    return { role: 'tool', content: lines.join('\n'), callId, tool }
  }
}

function createWords(size, upTo) {
  const words = new Set()
  while (words.size < size) {
    let word = ''
    for (let syllables = 1 + upTo(3.5); syllables > 0; syllables--)
      word += ONSETS[upTo(ONSETS.length)] + VOWELS[upTo(VOWELS.length)]
    words.add(word + ENDS[upTo(ENDS.length)])
  }
  return [...words]
}
