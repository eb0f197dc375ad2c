// A model that follows only what stands in its context learns from what it did: what it saved, and what it was told of it.
import { expect, it, onTestFinished } from 'vitest'
import { KINDS, type Learner, openLearner } from './__fixtures__/learner.js'

async function open(config?: object): Promise<Learner> {
  const learner = await openLearner(config)
  onTestFinished(() => learner.close())
  return learner
}

it('writes a skill when it is told that the task went well, uses it, mends it when it is corrected, and then does it right', async () => {
  const { session, typed, calls, made, server } = await open()
  expect(await session('Make the invoice of ada', 'Great, that went well.')).toEqual([
    'Done. How did it go? I can save the way.',
    'Fine.',
  ])
  const before = calls()
  expect(await session('Make the invoice of bob', 'No, the stamp is missing.')).toEqual(['Done.', 'Stamped.'])
  expect(calls() - before).toBe(4)
  expect(await session('Make the invoice of eve')).toEqual(['Done.'])
  expect(await Promise.all(['invoice-ada', 'invoice-bob', 'invoice-eve'].map(made))).toEqual([
    'invoice ada plain\n',
    'invoice bob --stamped\n',
    'invoice eve --stamped\n',
  ])
  expect(await typed('skills', 'stats')).toMatch(
    /^make-invoice \| 2× \| 2 completed \| 1 corrected \| [\d-]+ \| user, trial$/m,
  )
  const journey = await typed('journey', 'list skill')
  expect(journey.split('\n').map((line) => line.split(' | ').slice(2).join(' | '))).toEqual([
    expect.stringMatching(
      /^skill \| agent, \S+ \| create make-invoice: Bills a customer for work of a month\. \(text from outside was read/,
    ),
    expect.stringMatching(/^skill \| agent, \S+ \| patch make-invoice\/SKILL\.md \(text from outside was read/),
  ])
  await typed('journey', `undo ${journey.split('\n')[1]!.split(' ')[0]}`)
  await session('Make the invoice of zoe')
  expect(await made('invoice-zoe')).toBe('invoice zoe plain\n')
  expect(server.violations).toEqual([])
}, 300_000)

const IS_FULL = process.env['HERMES_TEST_RUNS'] !== undefined

it('needs at most half the calls when it does its tasks again, and skills are less than a tenth of what it reads', async () => {
  const { round, typed } = await open()
  const kinds = Object.keys(KINDS).slice(0, IS_FULL ? 5 : 2)
  const [first, second] = [await round('first', kinds), await round('second', kinds)]
  expect([first, second]).toEqual([kinds.length * 8, kinds.length * 4])
  const [, share] = /Skills are ([\d.]+) % of what tools gave/.exec(await typed('skills', 'stats'))!
  expect(Number(share)).toBeLessThan(10)
}, 300_000)

it('needs as many calls as before where skills are off, and nobody offers to save any', async () => {
  const { round, server } = await open({ agent: { disabled_toolsets: ['skills'] } })
  const kinds = Object.keys(KINDS).slice(0, IS_FULL ? 5 : 1)
  const [first, second] = [await round('first', kinds), await round('second', kinds)]
  expect([first, second]).toEqual([kinds.length * 10, kinds.length * 10])
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).not.toContain('as a skill')
}, 300_000)
