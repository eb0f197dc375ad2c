// Goals, tasks of the person's own and questions beside the work, as all entry points have them.
import type { CapturedRequest } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { open, stage, type } from './__fixtures__/commands-stage.js'

const messagesOf = ({ body }: CapturedRequest) => body.messages.map((message) => JSON.stringify(message))
const CONTINUE = '{"verdict": "continue", "reason": "The tests are not run."}'

it('works on in ordinary messages until the judge says that the goal is reached', async () => {
  const added = Promise.withResolvers<void>()
  const { server, turns, judged, enter } = await stage(async (turn) => {
    await added.promise
    // The first one judges a goal that took less.
    return turn < 2 || turn > 3 ? '```json\n{"verdict": "done", "reason": "All tests pass."}\n```' : CONTINUE
  })
  const home = await enter()
  const { handle, lines, until } = open(home, server.baseUrl)
  await type(home.runtime, handle, '/goal Make it green')
  await type(home.runtime, handle, '/subgoal No test is skipped')
  added.resolve()
  await until('Goal reached')
  expect(lines).toEqual([
    'Goal, turn 1 of 3: The tests are not run.',
    'Goal, turn 2 of 3: The tests are not run.',
    'Goal reached: All tests pass.',
  ])
  expect(turns).toHaveLength(3)
  for (const [index, turn] of turns.slice(1).entries()) {
    const before = messagesOf(turns[index]!)
    expect(messagesOf(turn).slice(0, before.length)).toEqual(before)
    expect(turn.body.tools).toEqual(turns[0]!.body.tools)
  }
  expect(turns.at(-1)!.body.messages.at(-1)).toMatchObject({
    role: 'user',
    content: expect.stringContaining('It also takes:\n1. No test is skipped'),
  })
  expect(judged.at(-1)).toContain('Turn 3.')
  expect(await type(home.runtime, handle, '/goal')).toContain('reached, 2 of 3 turns: All tests pass.')
  expect(server.violations).toEqual([])
})

it('stops at its number of turns, survives the process and goes on when it is taken up again', async () => {
  const { server, turns, enter } = await stage(() => CONTINUE)
  const first = await enter()
  const before = open(first, server.baseUrl)
  await type(first.runtime, before.handle, '/goal Count to ten')
  await before.until('waits')
  expect(before.lines.at(-1)).toBe('The goal waits: 3 turns were not enough. /goal resume goes on with it.')
  expect(turns).toHaveLength(4)
  await first.host.close()
  const second = await enter()
  const after = open(second, server.baseUrl, { sessionId: before.handle.id })
  await after.handle.send('How far are you?').result
  expect(await type(second.runtime, after.handle, '/goal show')).toContain('waiting, 3 of 3 turns')
  await type(second.runtime, after.handle, '/goal resume')
  await after.until('Goal, turn 1 of 3')
  await type(second.runtime, after.handle, '/goal clear')
})

it('gives way to what is typed while it is judged, and judges what came of that', async () => {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { server, turns, judged, enter } = await stage(async (turn) => {
    if (turn > 1) return '{"verdict": "done", "reason": "It is."}'
    begun.resolve()
    await held.promise
    return CONTINUE
  })
  const home = await enter()
  const { handle, lines, until } = open(home, server.baseUrl)
  await type(home.runtime, handle, '/goal Paint it')
  await begun.promise
  await handle.send('Blue, please.').result
  held.resolve()
  await until('Goal reached')
  expect(lines).toEqual(['Goal reached: It is.'])
  expect(turns.map(({ body }) => body.messages.at(-1)!.content)).toEqual(['Paint it', 'Blue, please.'])
  expect(judged).toHaveLength(2)
})

it('waits after a stop, for a time, and when its judge fails twice', async () => {
  const { server, clock, turns, enter } = await stage((turn) =>
    turn === 1 ? '{"verdict": "wait", "reason": "The build runs.", "minutes": 5}' : 'I think so.',
  )
  const home = await enter()
  const { handle, lines, until } = open(home, server.baseUrl)
  await type(home.runtime, handle, '/goal Ship it')
  while (!clock.pending().includes(5 * 60_000)) await new Promise((resolve) => setImmediate(resolve))
  await home.host.closeIdle(0)
  await clock.advance(5 * 60_000)
  await until('waits')
  expect(lines).toEqual([
    'Goal, turn 1 of 3: 5 minutes later: The build runs.',
    'Goal, turn 2 of 3',
    'The goal waits: its judge could not be asked. /goal resume goes on with it.',
  ])
  server.setHandler(null)
  server.enqueue({ text: 'a lot of words', chunkSize: 1, fault: 'stall' })
  const { length } = server.requests
  const resumed = type(home.runtime, handle, '/goal resume')
  await server.waitForRequests(length + 1)
  handle.interrupt()
  await resumed
  await until('the run was stopped')
  expect(turns).toHaveLength(3)
})

it('answers a question beside the work from a copy with the cached prefix, and keeps nothing', async () => {
  const { server, turns, enter } = await stage(() => CONTINUE)
  const home = await enter()
  const { handle } = open(home, server.baseUrl)
  await handle.send('Begin.').result
  const { log } = await home.runtime.storage()
  const before = await log.entries(handle.id)
  expect(await type(home.runtime, handle, '/btw What did I say?')).toBe('Turn 2.')
  expect(await log.entries(handle.id)).toEqual(before)
  const [first, aside] = turns.map(messagesOf)
  expect(aside!.slice(0, first!.length)).toEqual(first)
  expect(turns[1]!.body.tools).toEqual(turns[0]!.body.tools)
  expect(turns[1]!.body).toMatchObject({ tool_choice: 'none' })
  await handle.send('Go on.').result
  expect(JSON.stringify(turns.at(-1)!.body.messages)).not.toContain('What did I say?')
})

it('does a task in a session of its own, and tells the result by itself, also where nothing was said before', async () => {
  const { server, turns, enter } = await stage(() => CONTINUE)
  const home = await enter()
  const notified = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let count = 0
  const { handle } = open(home, server.baseUrl, {
    onWakeUp: (turn) => void turn.result.then(() => notified[count++]?.resolve()),
  })
  expect(await type(home.runtime, handle, '/background Count the apples')).toContain('Task 1 is under way.')
  await notified[0]!.promise
  expect(JSON.stringify(turns.at(-1)!.body.messages)).toContain('Three apples.')
  const child = server.requests.find(({ body }) => JSON.stringify(body.messages).includes('You were started by'))!
  expect(child.body.tools!.length).toBeGreaterThan(3)
  await handle.send('And?').result
  await type(home.runtime, handle, '/background Count them again')
  await notified[1]!.promise
  expect(JSON.stringify(turns.at(-1)!.body.messages.at(-1))).toContain('Three apples.')
})
