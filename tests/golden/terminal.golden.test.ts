// Recorded conversations in a terminal: what goes to the model server, and the screen at the end.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { call, goldenSessions, isChild, newest, type Person, writtenCalls } from './stage.js'

const session = goldenSessions('terminal')
const RECORD = '## Active Task\nnone\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'

/** Says each line and waits for what follows it: a text anywhere after the line, or a screen that matches. */
async function converse(person: Person, lines: readonly (readonly [string, string | RegExp])[]): Promise<void> {
  for (const [line, reply] of lines) {
    await person.say(line)
    const isAfter = () => new RegExp(`${literally(line)}[^]*${literally(String(reply))}`)
    await person.shows(typeof reply === 'string' ? isAfter() : reply)
  }
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

session('tools-and-diffs-are-shown', async ({ put, script, terminal }) => {
  await put('a.txt', 'one\ntwo\n')
  script(
    { reasoning: 'Look first.', text: 'I **look**.', ...call('read_file', { path: 'a.txt' }) },
    call('patch', { path: 'a.txt', old_string: 'two', new_string: 'three' }),
    call('terminal', { command: 'echo out; echo err >&2; exit 3' }),
    call('todo_write', { todos: [{ id: '1', content: 'tidy up', status: 'in_progress' }] }),
    { text: '# Done\n\n- one\n- `two`\n\n```sh\necho three\n```' },
  )
  await terminal([], (person) => converse(person, [['Work.', /echo three[\s\S]*\n>$/]]))
})

session('approvals-are-answered-with-yes-no-and-always', async ({ put, script, terminal, hermes }) => {
  for (const name of ['one', 'two', 'three']) await put(`${name}/a.txt`, 'x')
  script(...['one', 'two', 'three', 'three'].map((name) => call('terminal', { command: `rm -rf ${name}` })), {
    text: 'Two are gone.',
  })
  await terminal([], async (person) => {
    await person.say('Clean up.')
    for (const [folder, key] of ['one y', 'two n', 'three a'].map((pair) => pair.split(' ') as [string, string])) {
      await person.shows(new RegExp(`rm -rf ${folder}[\\s\\S]*❯ \\[y\\] yes, once`))
      await person.type(key)
      if (key === 'a') await person.press('Enter')
    }
    await person.shows(/Two are gone\.\n>$/)
  })
  await hermes('permissions', 'list')
  await hermes('audit', 'list')
})

session('a-run-is-steered', async ({ server, answer, terminal }) => {
  const held = Promise.withResolvers<void>()
  answer(async ({ number }) => {
    if (number === 1) return call('todo_read', {})
    if (number === 2) await held.promise
    // The lines that were taken are on the screen by then, as with any model that takes its time.
    return number === 2 ? call('todo_read', {}) : { text: 'Done.', latencyMs: 300 }
  })
  await terminal([], async (person) => {
    await person.say('Work.')
    await server.waitForRequests(2)
    await person.type('Be quick.')
    await person.press('M-s')
    await person.shows('↪ Be quick.')
    await converse(person, [['/steer And quiet.', '↪ And quiet.']])
    held.resolve()
    await person.shows(/Done\.\n>$/)
  })
})

session('what-is-typed-during-a-run-is-queued', async ({ answer, terminal }) => {
  const held = Promise.withResolvers<void>()
  answer(async ({ number }) => {
    if (number === 1) await held.promise
    return { text: `Answer ${number}.` }
  })
  await terminal([], async (person) => {
    await converse(person, [
      ['First.', /Ctrl-C stops.*\n>$/],
      ['Second.', /queued: Second\./],
      ['/queue Third.', /queued: Third\./],
    ])
    held.resolve()
    await person.shows(/Answer 3\.\n>$/)
  })
})

session('a-run-is-interrupted-and-the-session-goes-on', async ({ cwd, script, terminal }) => {
  script(call('terminal', { command: 'touch begun; sleep 600' }), { text: 'Here again.' })
  await terminal([], async (person) => {
    await person.say('Wait.')
    await expect.poll(() => existsSync(join(cwd, 'begun')), { interval: 20, timeout: 15_000 }).toBe(true)
    await person.press('C-c')
    await person.shows(/Stopped\.\n>$/)
    await converse(person, [['Go on.', /Here again\.\n>$/]])
  })
})

session('a-question-is-picked-and-answered-freely', async ({ script, terminal }) => {
  const ask = call('clarify', { question: 'Which colour?', choices: ['red', 'blue'] })
  script(ask, ask, { text: 'Blue and green.' })
  await terminal([], async (person) => {
    await person.say('Paint.')
    await person.shows(/or type an answer/)
    await person.press('Down', 'Enter')
    await person.shows(/→ blue[\s\S]*or type an answer/)
    await person.type('green')
    await person.press('Enter')
    await person.shows(/Blue and green\.\n>$/)
  })
})

session('turns-are-taken-back-and-files-rolled-back', async ({ put, script, terminal }) => {
  await put('note.txt', 'colour\n')
  script(
    { text: 'Hello.' },
    { text: 'Wrong.' },
    call('write_file', { path: 'note.txt', content: 'broken\n' }),
    { text: 'Written.' },
    { text: 'Fresh.' },
    { text: 'Fresh again.' },
  )
  await terminal(['--yolo'], (person) =>
    converse(person, [
      ['Hi.', /Hello\.\n>$/],
      ['Bad idea.', /Wrong\.\n>$/],
      ['/undo', /Took back 2 messages, from “Bad idea\.” on\./],
      ['/checkpoint good', /Checkpoint 1 \(good\)/],
      ['Break it.', /Written\.\n>$/],
      ['/rollback diff good', /~ note\.txt/],
      ['/rollback good', /The conversation is back too/],
      ['Again.', /Fresh\.\n>$/],
      ['/retry', /Fresh again\.\n>$/],
      ['/branch Other', /Now in Other, with test\./],
      ['/undo 0', 'It takes a number of messages'],
    ]),
  )
})

session('a-conversation-gets-title-and-summary', async ({ answer, terminal, hermes }) => {
  const requested = Promise.withResolvers<void>()
  answer(({ body }) => {
    const text = JSON.stringify(body.messages)
    if (text.includes('Name the conversation below')) return { text: 'Adding two and two' }
    if (!text.includes('Sum up the conversation')) return { text: `Answer to ${body.messages.length} messages.` }
    requested.resolve()
    return { text: 'Two sums were worked out.\nKeywords: arithmetic, addition' }
  })
  await terminal(
    [],
    async (person) => {
      await converse(person, [
        ['What is 2 + 2?', 'Answer to 2 messages.'],
        ['And 3 + 3?', 'Answer to 4 messages.'],
        ['/new', 'new session'],
      ])
      await requested.promise
    },
    { titles: true },
  )
  await hermes('sessions', 'list', '--json')
  await hermes('sessions', 'search', 'arithmetic')
})

session('a-background-result-comes-by-itself', async ({ answer, terminal }) => {
  const held = Promise.withResolvers<void>()
  answer(async (request) => {
    if (isChild(request)) {
      await held.promise
      return { text: 'Three apples.' }
    }
    if (newest(request).includes('Three apples')) return { text: 'I heard: three.' }
    if (newest(request).includes('Go.')) return call('delegate_task', { goal: 'Count.', background: true })
    return { text: request.body.messages.at(-1)!.role === 'tool' ? 'It runs.' : 'Yes, still here.' }
  })
  await terminal([], async (person) => {
    await converse(person, [
      ['Go.', /It runs\.\n>$/],
      ['Are you there?', /Yes, still here\.\n>$/],
    ])
    held.resolve()
    await person.shows(/I heard: three\.\n>$/)
  })
})

session('a-background-task-that-was-killed-is-told-once', async ({ server, answer, terminal, chat }) => {
  answer((request) => {
    if (isChild(request)) return { fault: 'stall', text: 'never' }
    if (newest(request).includes('Go.')) return call('delegate_task', { goal: 'Count.', background: true })
    return { text: request.body.messages.at(-1)!.role === 'tool' ? 'It runs.' : 'Heard.' }
  })
  await terminal(
    [],
    async (person) => {
      await converse(person, [['Go.', /It runs\.\n>$/]])
      await server.waitForRequests(3)
      await person.signal('KILL')
    },
    { ends: 'killed' },
  )
  await terminal(['-c'], (person) => converse(person, [['/title Counting', 'This session is called Counting.']]))
  await chat('-c', '-q', 'And?', '--json')
  await chat('-c', '-q', 'Again?')
})

session('a-child-is-shown-and-ended', async ({ server, answer, terminal }) => {
  const held = Promise.withResolvers<void>()
  answer(async (request) => {
    const isAfterTool = request.body.messages.at(-1)!.role === 'tool'
    if (!isChild(request))
      return isAfterTool ? { text: 'It is over.' } : call('delegate_task', { goal: 'Count apples.' })
    await held.promise
    return { text: 'Never heard.' }
  })
  await terminal([], async (person) => {
    await converse(person, [['Go.', /Count apples\./]])
    await server.waitForRequests(2)
    await converse(person, [
      ['/agents pause 1', 'Task 1 is held before the next step.'],
      ['/agents kill 7', 'There is no task "7".'],
      ['/agents kill 1', /It is over\.\n>$/],
    ])
    held.resolve()
  })
})

session('a-plan-is-made-and-accepted', async ({ answer, terminal }) => {
  answer((request) => {
    const isTool = request.body.messages.at(-1)!.role === 'tool'
    const text = newest(request)
    if (text.includes('accepted the plan')) return call('todo_read', {})
    if (text.includes('Write it.')) return call('terminal', { command: 'echo 1 > a.txt' })
    if (isTool && text.includes('plan mode is on')) return { text: '1. Write a.txt.\n2. Read it back.' }
    return { text: 'All done.' }
  })
  await terminal([], (person) =>
    converse(person, [
      ['/plan Write it.', /2\. Read it back\.\n\n.*\/plan accept/],
      ['/plan accept', /All done\.[\s\S]*\n>$/],
    ]),
  )
})

session('a-conversation-is-compacted-on-request', async ({ server, put, config, answer, terminal }) => {
  const model = { provider: 'custom', default: 'test', base_url: server.baseUrl, context_length: 60_000 }
  const auxiliary = { title_generation: { enabled: false }, session_summary: { enabled: false } }
  await config({ model, auxiliary })
  await put('big.txt', 'some words in a line\n'.repeat(400))
  let calls = 0
  answer(({ body }) => {
    if (String(body.messages[0]?.content).startsWith('You write the record')) return { text: RECORD }
    if (calls++ >= 8) return { text: 'All read.', usage: { inputTokens: 18_000 } }
    return {
      ...call('terminal', { command: `head -c 7000 big.txt; echo ${calls}` }),
      usage: { inputTokens: calls * 2_000 },
    }
  })
  await terminal(['--yolo'], (person) =>
    converse(person, [
      ['Read big.txt. Never touch secret.txt.', /All read\.\n>$/],
      ['/compress --dry-run', /messages would become a summary/],
      ['/compress the numbers', /tokens are now about \d+\./],
      ['Once more?', /Once more\?\n\nAll read\.\n>$/],
    ]),
  )
})

session('the-model-is-changed-and-sessions-are-named', async ({ home, answer, terminal }) => {
  answer(({ body }) => ({ text: `${body.model} saw ${body.messages.length}.` }))
  await terminal([], async (person) => {
    await converse(person, [
      ['/title Garden', 'This session is called Garden.'],
      ['Plant.', /Plant\.\n\ntest saw 2\.\n>$/],
      ['/new', 'A new session.'],
      ['Other.', /Other\.\n\ntest saw 2\.\n>$/],
      ['/sessions', /\* \S+ {2}.* messages {2}Other\./],
      ['/resume Garden', 'Now in Garden, with test.'],
      ['/model tiny', 'does not list "tiny"'],
      ['/model tiny --force', 'Now tiny answers'],
      ['Water.', /tiny saw 4\.\n>$/],
    ])
    await expect.poll(() => writtenCalls(home), { interval: 20, timeout: 15_000 }).toBe(3)
    await converse(person, [
      ['/usage', /tokens in/],
      ['/tools', /read_file +file/],
      ['/help', /\/exit/],
      ['/modle', '/model'],
      ['/yolo', 'YOLO is on'],
      ['/stop', 'Nothing is running.'],
    ])
  })
})

session('a-killed-conversation-is-resumed', async ({ cwd, script, terminal }) => {
  script({ text: 'Ready.' }, call('terminal', { command: 'touch begun; sleep 600' }))
  await terminal(
    [],
    async (person) => {
      await converse(person, [['Hi.', /Ready\.\n>$/]])
      await person.say('Begin.')
      await expect.poll(() => existsSync(join(cwd, 'begun')), { interval: 20, timeout: 15_000 }).toBe(true)
      await person.signal('KILL')
    },
    { ends: 'killed' },
  )
  script({ text: 'It was cut off.' })
  await terminal(['-c'], (person) => converse(person, [['What happened?', /It was cut off\.\n>$/]]))
})

session('a-failing-model-is-asked-again-and-a-fallback-is-named', async ({ server, config, script, terminal }) => {
  const auxiliary = { title_generation: { enabled: false }, session_summary: { enabled: false } }
  await config({ auxiliary, fallback_providers: [{ provider: 'custom', model: 'spare', base_url: server.baseUrl }] })
  const body = { error: { message: 'Insufficient credits.' } }
  script({ fault: 'status', status: 503, retryAfterSeconds: 1 }, { text: 'At last.' })
  script({ fault: 'status', status: 402, body }, { text: 'From the spare.' })
  await terminal([], (person) =>
    converse(person, [
      ['Ask.', /At last\.\n>$/],
      ['Ask again.', /From the spare\.\n>$/],
    ]),
  )
})

session('files-are-attached-by-reference', async ({ put, script, terminal }) => {
  await put('notes.txt', 'one\ntwo\n')
  script({ text: 'Seen.' })
  await terminal([], (person) => converse(person, [['See @file:notes.txt and @file:missing.txt', /Seen\.\n>$/]]))
})
