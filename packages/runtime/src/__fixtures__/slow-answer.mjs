// node slow-answer.mjs PATH|URL SESSION WORDS: an agent whose model streams a word each 50 ms. Prints the number of each word that is shown.
import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { noUsage } from '@hermes/contracts/conversation'
import { createAgent } from '@hermes/agent-core'
import { openStorage } from '@hermes/storage'

const [path, sessionId, words] = process.argv.slice(2)
const store = await openStorage(path.startsWith('postgres:') ? { url: path } : { path })
const model = {
  provider: 'slow',
  model: 'slow',
  async *stream() {
    let text = ''
    for (let number = 1; number <= Number(words); number++) {
      if (number > 1) await sleep(50)
      const word = `word${number} `
      text += word
      yield { type: 'text-delta', text: word }
    }
    yield { type: 'finish', message: { role: 'assistant', content: [{ type: 'text', text }], finishReason: 'stop' }, usage: noUsage }
  },
}
const run = createAgent({ model, tools: [], session: { store, id: sessionId } }).run('Tell me.')
let shown = ''
for await (const event of run) {
  if (event.type !== 'message-delta') continue
  shown += event.text
  writeSync(1, `${shown.trim().split(' ').length}\n`)
}
await store.close()
