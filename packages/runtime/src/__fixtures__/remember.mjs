// Adds entries to the notes of a home, one after the other: `remember.mjs HOME NAME COUNT`. Prints each that was saved.
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { openHomeMemory } from '../memory/home-memory.ts'

const [home, name, count] = process.argv.slice(2)
const settings = { memory_enabled: true, user_profile_enabled: true, memory_char_limit: 1e6, user_char_limit: 1e6 }
const options = { directory: join(home, 'memories'), settings, redact: (text) => text, clock: systemClock }
const memory = await openHomeMemory(options).open('memory')
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
for (let number = 0; number < Number(count); ) {
  const content = `entry ${name}-${number}`
  try {
    const { type } = await memory.change('memory', [{ action: 'add', content }], name)
    if (type === 'changed') console.log(content)
    number++
  } catch (error) {
    // Who is told to try again does.
    if (!error.retryable) throw error
  }
  await pause(10)
}
