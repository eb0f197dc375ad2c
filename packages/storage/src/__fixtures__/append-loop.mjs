// node append-loop.mjs PATH|URL SESSION COUNT [JOURNAL]: takes the lease and appends, printing each seq once its append has resolved.
// Prints `busy OWNER` and ends when somebody else holds the lease. COUNT 0 goes on until it is killed.
import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStorage } from '../index.ts'

const [path, sessionId, count, journal = 'wal'] = process.argv.slice(2)
const print = (line) => writeAll(Buffer.from(`${line}\n`))
const store = await openStorage(path.startsWith('postgres:') ? { url: path } : { path, journal })
try {
  const lease = await store.leases.acquire(sessionId, { owner: `writer` })
  print('ready')
  for (let round = 0; Number(count) === 0 || round < Number(count); round++) {
    const text = `round ${round} `.repeat(round % 50)
    const seqs = await store.log.append(
      sessionId,
      [
        { type: 'message', message: { role: 'user', content: [{ type: 'text', text, origin: 'steer' }, { type: 'text', text }] } },
        { type: 'note', kind: 'round', data: { round } },
      ],
      { lease },
    )
    print(seqs.join(' '))
    // Where each commit waits for the disk, writers without a pause would leave no gap for others.
    if (journal === 'delete') await sleep(2)
  }
  await store.close()
  print('done')
} catch (error) {
  print(error.code === 'store.session_busy' ? `busy ${error.details.owner}` : String(error.stack))
}

/** A full pipe takes a part of it, or none for now. */
function writeAll(bytes) {
  try {
    const written = writeSync(1, bytes)
    if (written < bytes.length) writeAll(bytes.subarray(written))
  } catch (error) {
    if (error.code !== 'EAGAIN') throw error
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    writeAll(bytes)
  }
}
