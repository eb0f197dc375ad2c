import { describe, expect, it, onTestFinished } from 'vitest'
import type { OpenRequest } from '../live-session.js'
import type { SessionHandle, SessionHost } from '../session-host.js'

/**
 * What the model of a host under test does next. `words` is an answer; `stall` is one that begins and never ends; `danger` is a call that the
 * policy asks about.
 */
export type ModelStep =
  | { readonly type: 'words'; readonly text: string }
  | { readonly type: 'stall' }
  | { readonly type: 'danger' }

/** A host under test with the model behind it. */
export interface SessionHostSubject {
  readonly host: SessionHost
  /** What the model does, in order; `echo` has it answer each message with the words of that message instead. */
  model(steps: readonly ModelStep[] | 'echo'): void
  /** What a session is opened with besides platform and permissions, such as the model. */
  readonly request?: Partial<OpenRequest>
  /** The newest request that reached the model, as JSON text. */
  newestRequest(): string
  /** Resolves once so many requests have reached the model. */
  requests(count: number): Promise<void>
  /** After the host was closed. */
  close(): Promise<void>
}

/**
 * Registers the cases that every host of sessions passes with vitest: order of inputs, signals, readers, questions, the end. `create` makes a
 * host of an empty home for each. Call it at the top level of a test file.
 */
export function testSessionHost(options: { readonly create: () => Promise<SessionHostSubject> }): void {
  type Open = (request?: Partial<OpenRequest>) => SessionHandle
  const hostCase = (title: string, check: (subject: SessionHostSubject, open: Open) => Promise<void>) => {
    it(title, async () => {
      const subject = await options.create()
      const { host, request } = subject
      onTestFinished(async () => {
        await host.close()
        await subject.close()
      })
      await check(subject, (own) => host.open({ platform: 'cli', permissions: 'deny', ...request, ...own }))
    })
  }

  describe('SessionHost', () => {
    hostCase('runs inputs one after the other, and shows each to its own reader', async ({ model }, open) => {
      model('echo')
      const session = open()
      const turns = ['one', 'two', 'three'].map((text) => session.send(text))
      const seen: string[] = []
      for (const turn of turns) {
        const types: string[] = []
        for await (const event of turn) types.push(event.type)
        expect([types[0], types.at(-1)]).toEqual(['run-start', 'run-end'])
        seen.push((await turn.result).text)
      }
      expect(seen.map((text) => text.match(/one|two|three/)?.[0])).toEqual(['one', 'two', 'three'])
    })

    hostCase('withdraws an input that waits, and interrupts one that runs, by its signal', async (subject, open) => {
      subject.model([{ type: 'stall' }])
      const session = open()
      const [running, waiting] = [new AbortController(), new AbortController()]
      const first = session.send('begin', { signal: running.signal })
      const second = session.send('never', { signal: waiting.signal })
      await subject.requests(1)
      waiting.abort(new DOMException('withdrawn', 'AbortError'))
      await expect(second.result).rejects.toThrow('withdrawn')
      running.abort()
      expect((await first.result).status).toBe('interrupted')
      expect(subject.newestRequest()).not.toContain('never')
      expect(session.isAtWork).toBe(false)
    })

    hostCase('goes on when a reader leaves in the middle', async ({ model }, open) => {
      model([{ type: 'words', text: 'word by word' }])
      const turn = open().send('begin')
      for await (const event of turn) if (event.type === 'message-delta') break
      expect(await turn.result).toMatchObject({ status: 'completed', text: 'word by word' })
    })

    hostCase(
      'asks every reader once, takes the first answer and withdraws the question elsewhere',
      async (subject, open) => {
        subject.model([{ type: 'danger' }, { type: 'words', text: 'Done.' }])
        const session = open({ permissions: 'ask' })
        const other = open({ sessionId: session.id, permissions: 'ask' })
        const [here, there] = [await session.subscribe(), await other.subscribe()]
        const turn = session.send('clean up')
        const answered: boolean[] = []
        for await (const { event } of here) {
          if (event.type !== 'approval-open') continue
          answered.push(await session.answer(event.id, 'deny', 'ada'), await other.answer(event.id, 'once'))
          break
        }
        expect((await turn.result).status).toBe('completed')
        expect(answered).toEqual([true, false])
        const seen: unknown[] = []
        for await (const { event } of there) {
          if (event.type.startsWith('approval-o') || event.type.startsWith('approval-c')) seen.push(event)
          if (event.type === 'run-end') break
        }
        expect(seen).toMatchObject([{ type: 'approval-open' }, { type: 'approval-close', choice: 'deny', by: 'ada' }])
      },
    )

    hostCase('counts the first of two answers that come at once', async (subject, open) => {
      subject.model([{ type: 'danger' }, { type: 'words', text: 'Done.' }])
      const session = open({ permissions: 'ask' })
      const reader = await session.subscribe()
      const turn = session.send('clean up')
      for await (const { event } of reader) {
        if (event.type !== 'approval-open') continue
        const answers = [session.answer(event.id, 'deny'), session.answer(event.id, 'once')]
        expect(await Promise.all(answers)).toEqual([true, false])
        break
      }
      await turn.result
      expect(subject.newestRequest()).toContain('said no')
    })

    hostCase('refuses at once where nobody answers', async (subject, open) => {
      subject.model([{ type: 'danger' }, { type: 'words', text: 'So not.' }])
      expect(await open().send('clean up').result).toMatchObject({ status: 'completed', text: 'So not.' })
      expect(subject.newestRequest()).toMatch(/nobody|no one|cannot be asked|not allowed/i)
      expect((await subject.host.approvals()).map(({ status }) => status)).toEqual(['parked'])
    })

    hostCase(
      'tells the readers of all sessions with one cursor, from which another reader goes on',
      async (subject, open) => {
        const { host, model } = subject
        model('echo')
        const all = await host.subscribe()
        const [one, two] = [open(), open()]
        await Promise.all([one.send('a').result, two.send('b').result])
        const ends: string[] = []
        let middle = 0
        for await (const { event, sessionId, cursor } of all) {
          if (event.type !== 'run-end') continue
          ends.push(sessionId)
          if (ends.length === 1) middle = cursor
          else break
        }
        expect(ends.sort()).toEqual([one.id, two.id].sort())
        const later = await host.subscribe({ after: middle })
        for await (const { event, cursor } of later) {
          expect(cursor).toBeGreaterThan(middle)
          if (event.type === 'run-end') break
        }
      },
    )

    hostCase('ends what runs and refuses what waits when it is closed', async (subject, open) => {
      const { host, model, requests } = subject
      model([{ type: 'stall' }, { type: 'words', text: 'too late' }])
      const session = open()
      const turns = ['one', 'two'].map((text) =>
        session.send(text).result.then(
          ({ status }) => status,
          ({ code }) => code,
        ),
      )
      await requests(1)
      await host.close()
      expect(await Promise.all(turns)).toEqual(['interrupted', 'host.closed'])
      await expect(session.send('three').result).rejects.toMatchObject({ code: 'host.closed' })
      expect(subject.newestRequest()).not.toContain('two')
      expect(session.ready).toBeNull()
    })
  })
}
