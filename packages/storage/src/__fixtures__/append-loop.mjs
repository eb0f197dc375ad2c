// node append-loop.mjs PATH SESSION COUNT: takes the lease and appends, printing each seq once its append has resolved.
// Prints `busy OWNER` and ends when somebody else holds the lease. COUNT 0 goes on until it is killed.
import { writeSync } from 'node:fs'
import { openStorage } from '../index.ts'

const [path, sessionId, count] = process.argv.slice(2)
const print = (line) => writeSync(1, `${line}\n`)
const store = await openStorage({ path })
try {
  const lease = await store.acquireLease(sessionId, { owner: `writer` })
  print('ready')
  for (let round = 0; Number(count) === 0 || round < Number(count); round++) {
    const text = `round ${round} `.repeat(round % 50)
    const seqs = await store.append(
      sessionId,
      [
        { type: 'message', message: { role: 'user', content: [{ type: 'text', text, origin: 'steer' }, { type: 'text', text }] } },
        { type: 'note', kind: 'round', data: { round } },
      ],
      { lease },
    )
    print(seqs.join(' '))
  }
  await store.close()
  print('done')
} catch (error) {
  print(error.code === 'store.session_busy' ? `busy ${error.details.owner}` : String(error.stack))
}
