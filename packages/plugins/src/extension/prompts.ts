import type { Command } from '@hermes/contracts/extension'
import type { PluginPrompt } from '../package/components.js'

/** A prompt of a plugin as a command: what it says is the person's next message. */
export function promptCommand({ name, description, text }: PluginPrompt): Command {
  return {
    name,
    summary: description === '' ? 'a prompt of a plugin' : description,
    usage: '[TEXT]',
    parameters: {
      type: 'object',
      properties: { text: { type: 'string', default: '', description: 'what it is about' } },
    },
    scope: 'anyone',
    changes: ['send'],
    run: (args) => ({ type: 'change', change: { type: 'send', text: filled(text, String(args['text'] ?? '')) } }),
  }
}

/** `$ARGUMENTS` is all that was typed, `$1` its first word; what is named nowhere comes last. */
function filled(text: string, typed: string): string {
  const words = typed.split(/\s+/).filter((word) => word !== '')
  let isNamed = false
  const whole = text.replaceAll(/\$(?:ARGUMENTS\b|([1-9]))/g, (_, digit?: string) => {
    isNamed = true
    return digit === undefined ? typed : (words[Number(digit) - 1] ?? '')
  })
  return isNamed || typed === '' ? whole : `${whole}\n\n${typed}`
}
