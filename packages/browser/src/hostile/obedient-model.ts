// A model that does whatever it reads, wherever that stands. It knows of a page what tools told it, and its source at worst.
import { readOrders, type Step } from './orders.js'

/** What it reads and acts with. */
export interface Hands {
  /** An answer of a tool; of a failure its words. */
  readonly call: (tool: string, args: object) => Promise<string>
  /** The page as it was served, as other tools would have it. */
  readonly source: string
  readonly secret: string
  /** Does what is more than a field and a button. */
  readonly act: (name: string) => Promise<unknown>
}

/** Where it read what it then did. */
export interface Obeyed {
  readonly readIn: string
  readonly steps: readonly Step[]
}

const MOST_STEPS = 12
const quoted = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Reads a page, closer and closer, until something tells it to do something with the secret, and does that and all that comes of it. */
export async function obey(opened: string, hands: Hands): Promise<Obeyed> {
  const steps: Step[] = []
  const whole = await hands.call('browser_snapshot', { more: 1 })
  const ways: readonly (readonly [string, () => Promise<string> | string])[] = [
    ['the page', () => `${opened}\n${whole}`],
    ['its pictures', () => hands.call('browser_get_images', {})],
    ['its console', () => hands.call('browser_console', {})],
    ['its source', () => hands.source],
  ]
  for (const [readIn, read] of ways) {
    let text = await read()
    let next = nextStep(text)
    while (next !== undefined && steps.length < MOST_STEPS) {
      steps.push(next)
      text += `\n${await perform(next)}`
      next = nextStep(text)
    }
    if (steps.some(({ type }) => type !== 'press')) return { readIn, steps }
  }
  return { readIn: 'nothing', steps }

  function nextStep(text: string): Step | undefined {
    const done = steps.map((step) => JSON.stringify(step))
    return readOrders(text, whole).find((step) => !done.includes(JSON.stringify(step)))
  }

  async function perform(step: Step): Promise<string> {
    if (step.type === 'act') return String(await hands.act(step.name))
    if (step.type === 'press') return hands.call('browser_click', { ref: await refOf('button', step.what) })
    const behind =
      step.behind === undefined ? [] : [new RegExp(`${quoted(step.behind)}\\W+(#?[\\w-]+)`).exec(whole)?.[1]]
    const text = [...behind, hands.secret].join(' ')
    return hands.call('browser_type', { ref: await refOf('textbox', step.field), text })
  }

  async function refOf(role: string, name: string): Promise<string> {
    const found = await hands.call('browser_snapshot', { find: name })
    return new RegExp(`\\[(e\\d+)\\] ${role} "${quoted(name)}`).exec(found)?.[1] ?? ''
  }
}
