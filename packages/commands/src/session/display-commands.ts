import type { Command, DisplaySetting } from '@hermes/contracts/extension'
import { parameters, text } from './parameters.js'

const SWITCH = ['on', 'off']

/** What each of them chooses; a skin may be one of the person's own. */
const CHOICES: readonly {
  readonly setting: DisplaySetting
  readonly aliases?: readonly string[]
  readonly words?: readonly string[]
  readonly summary: string
}[] = [
  {
    setting: 'busy',
    words: ['queue', 'steer', 'interrupt', 'background'],
    summary: 'what a line sent during a run does',
  },
  { setting: 'statusbar', aliases: ['sb'], words: SWITCH, summary: 'the bar below the line' },
  { setting: 'timestamps', aliases: ['ts'], words: SWITCH, summary: 'the time before each of your messages' },
  { setting: 'verbose', words: ['off', 'all', 'verbose'], summary: 'how much is shown of the calls of tools' },
  { setting: 'skin', summary: 'the colours of this window' },
]

/** How the window of the person shows things, as long as it is open. */
export function commandsOfDisplay(): readonly Command[] {
  return CHOICES.map(({ setting, aliases = [], words, summary }) => ({
    name: setting,
    aliases,
    usage: words ? `[${words.join(' | ')}]` : '[NAME]',
    summary,
    duringRun: 'allowed',
    changes: ['display'],
    parameters: parameters({
      value: words ? { type: 'string', enum: words, description: words.join(', ') } : text('the name of a skin'),
    }),
    run: ({ value }) => ({
      type: 'change',
      change: { type: 'display', setting, ...(value === undefined ? {} : { value: value as string }) },
    }),
  }))
}
