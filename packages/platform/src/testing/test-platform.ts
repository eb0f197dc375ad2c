import type { Incoming, Platform, PlatformState, PlatformTarget } from '@hermes/contracts/platform'
import { describe, expect, it, onTestFinished } from 'vitest'
import { failureOf } from '../platform-error.js'
import { sizeIn, splitMessage } from '../split-message.js'

/** A platform under test with its other side. */
export interface PlatformSubject {
  readonly platform: Platform
  /** Where messages of the cases go. */
  readonly target: PlatformTarget
  /** Somebody writes to the bot. */
  say(text: string): void | Promise<void>
  /** What the chat shows, in order, without markup. */
  shown(): readonly string[] | Promise<readonly string[]>
  /** Events that the platform would deliver again. */
  unconfirmed(): number
  /** The next call that sends fails like this. */
  fail(how: 'rate-limited' | 'unheard' | 'markup' | 'rejected'): void
  /** The account is good for nothing from now on. */
  revoke(): void
  close(): Promise<void>
}

interface Heard {
  readonly events: Incoming[]
  readonly states: PlatformState[]
  /** Resolves once so many events were heard. */
  until(count: number): Promise<void>
}

/** Registers the cases that every adapter passes with vitest; `create` makes one that is not connected yet. */
export function testPlatform(options: { readonly create: () => Promise<PlatformSubject> }): void {
  const platformCase = (title: string, check: (subject: PlatformSubject) => Promise<void>) => {
    it(title, async () => {
      const subject = await options.create()
      onTestFinished(async () => {
        await subject.platform.close()
        await subject.close()
      })
      await check(subject)
    })
  }
  const say = (subject: PlatformSubject, text: string) =>
    subject.platform.send({ target: subject.target, text, markup: 'markdown' })
  describe('Platform', () => {
    platformCase('hears what people write, once and in order, and says whom it speaks as', async (subject) => {
      const heard = listen(subject.platform)
      for (const text of ['one', 'two', 'three']) await subject.say(text)
      await heard.until(3)
      const texts = heard.events.map((event) => (event.type === 'message' ? event.text : event.type))
      expect(texts).toEqual(['one', 'two', 'three'])
      expect(new Set(heard.events.map(({ id }) => id)).size).toBe(3)
      await expect.poll(() => subject.unconfirmed()).toBe(0)
      expect(subject.platform.state).toMatchObject({ type: 'connected', account: expect.stringMatching(/./) })
      expect(subject.platform.heardAtMs).not.toBeNull()
      expect(await subject.platform.probe()).toMatch(/./)
    })
    platformCase('lets the platform keep what the listener has not taken', async (subject) => {
      let isStoreThere = false
      const heard = listen(subject.platform, () => isStoreThere)
      await subject.say('kept')
      await expect.poll(() => heard.states.some(({ type }) => type === 'connected')).toBe(true)
      await expect.poll(() => heard.refused()).toBeGreaterThan(0)
      expect(subject.unconfirmed()).toBe(1)
      isStoreThere = true
      await heard.until(1)
      await expect.poll(() => subject.unconfirmed()).toBe(0)
    })
    platformCase('sends text as it is, markup or not', async (subject) => {
      listen(subject.platform)
      const texts = ['plain <b>words</b> & more', '1 < 2 > 0', 'a_b_c * d', '\u{1f600} ok']
      for (const text of texts) await subject.platform.send({ target: subject.target, text, markup: 'plain' })
      expect(await subject.shown()).toEqual(texts)
      await say(subject, '**bold** and `code <b>`')
      expect((await subject.shown()).at(-1)).toEqual(
        subject.platform.abilities.edits ? 'bold and code <b>' : expect.stringMatching(/bold/),
      )
    })
    platformCase('takes every part of a long message', async (subject) => {
      const { maxLength } = subject.platform.abilities
      const text = [
        '# A title',
        '```ts',
        'const a = 1\n'.repeat(900),
        '```',
        'word '.repeat(2_000),
        'x'.repeat(9_000),
      ].join('\n')
      const parts = splitMessage(text, maxLength)
      for (const part of parts) {
        expect(sizeIn(part, maxLength.unit)).toBeLessThanOrEqual(maxLength.limit)
        await say(subject, part)
      }
      expect((await subject.shown()).length).toBe(parts.length)
    })
    platformCase('says how long to wait when it is too fast', async (subject) => {
      subject.fail('rate-limited')
      const { failure, retryAfterMs } = failureOf(await say(subject, 'fast').catch((error: unknown) => error))
      expect([failure, retryAfterMs]).toEqual(['rate_limited', expect.any(Number)])
      await say(subject, 'later')
      expect(await subject.shown()).toEqual(['later'])
    })
    platformCase('tells what was refused from what nobody knows', async (subject) => {
      subject.fail('rejected')
      expect(failureOf(await say(subject, 'no').catch((error: unknown) => error)).failure).toBe('rejected')
      subject.fail('unheard')
      expect(failureOf(await say(subject, 'perhaps').catch((error: unknown) => error)).failure).toBe('unknown_outcome')
      expect(await subject.shown()).toEqual(['perhaps'])
    })
    platformCase('stops hearing with a revoked account, and says so without its secret', async (subject) => {
      subject.revoke()
      const heard = listen(subject.platform)
      await expect.poll(() => heard.states.at(-1)?.type).toBe('failed')
      expect(JSON.stringify(heard.states)).not.toMatch(/AAH/)
    })
    platformCase('can be closed before it was heard from, and twice', async (subject) => {
      listen(subject.platform)
      await subject.platform.close()
      await subject.platform.close()
      expect(subject.platform.state).toEqual({ type: 'closed' })
    })
  })
}

function listen(platform: Platform, isStoreThere: () => boolean = () => true): Heard & { refused(): number } {
  const events: Incoming[] = []
  const states: PlatformState[] = []
  let waiting: (() => void)[] = []
  let refused = 0
  platform.connect({
    hear: async (event) => {
      if (!isStoreThere()) {
        refused++
        throw new Error('The store is gone for a moment.')
      }
      events.push(event)
      for (const look of waiting.splice(0)) look()
    },
    onState: (state) => states.push(state),
  })
  const until = async (count: number) => {
    while (events.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
    waiting = []
  }
  return { events, states, until, refused: () => refused }
}
