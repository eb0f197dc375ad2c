import { expect, it } from 'vitest'
import { scriptLoads } from '../index.js'

const PLACE = { file: '/p/a.sh', started: '/p/a.sh', cwd: '/p', userHome: '/home/ada' }

// Each took more than ten seconds, in which nothing else of the process went on.
it.each([
  ['blanks', `$(unset CDPATH${' '.repeat(130_000)}`],
  ['variables', Array.from({ length: 100_000 }, (_, at) => `v${at}=1`).join('\n')],
])('gives up on a script of many %s at once', { timeout: 5_000 }, (_, text) => {
  expect(scriptLoads(text, PLACE)).toMatchObject({ files: [], isFollowed: false })
})
