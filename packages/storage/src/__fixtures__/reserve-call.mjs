// node reserve-call.mjs PATH: keeps room for a call, says so, and goes on until it is killed.
import { writeSync } from 'node:fs'
import { openStorage } from '../index.ts'

const store = await openStorage({ path: process.argv[2] })
const call = { id: 'from another process', sessionId: null, tokens: 7, costUsd: 0 }
await store.usage.reserve(call, { filters: [{}], admits: () => true })
writeSync(1, 'held\n')
process.stdin.resume()
setInterval(() => undefined, 60_000)
