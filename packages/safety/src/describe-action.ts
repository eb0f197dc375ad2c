import type { Action } from '@hermes/contracts/policy'
import { escapeGlob } from './glob.js'
import type { PermissionRule } from './rules.js'
import { visibleText } from './visible-text.js'

const MAX_CHARS = 500

/** The shell text of a spawn; `argv` is quoted, so nothing in it splits. */
export function commandText(action: Extract<Action, { type: 'spawn' }>): string {
  return action.argv ? action.argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ') : action.command
}

/** The action on one line, for a person: nothing in it is hidden from a screen. */
export function describeAction(action: Action): string {
  return cut(visibleText(`${verb(action)} ${target(action)}`.replace(/(?<!\s)\s*\n\s*/g, ' ⏎ ')))
}

function verb(action: Action): string {
  switch (action.type) {
    case 'spawn':
      return action.outside ? 'Run outside the isolation:' : 'Run'
    case 'read':
      return 'Read'
    case 'write':
      return { write: 'Write', mkdir: 'Make folder', rename: 'Rename', remove: 'Delete' }[action.operation]
    case 'fetch':
      return action.method.toUpperCase()
    case 'send':
      return action.chosen ? 'Call' : 'Send to'
    default:
      return action satisfies never
  }
}

function target(action: Action): string {
  switch (action.type) {
    case 'spawn':
      return action.argv ? action.argv.join(' ') : action.command
    case 'read':
    case 'write':
      return action.path
    case 'fetch':
      return action.url
    case 'send':
      return action.target
    default:
      return action satisfies never
  }
}

function cut(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text
}

/**
 * The narrowest rule that allows the action from now on: this command, this path, this origin. Of a program that is written anew each time it
 * is one for all that its tool runs.
 */
export function ruleFor(action: Action, toolName: string | undefined): PermissionRule {
  switch (action.type) {
    case 'spawn': {
      if (toolName === 'execute_code' && action.argv) return { pattern: toolName, effect: 'allow' }
      const name = action.outside ? 'terminal_outside' : 'terminal'
      return { pattern: `${name}(${escapeGlob(commandText(action).trim())})`, effect: 'allow' }
    }
    case 'read':
      return { pattern: `file.read(${escapeGlob(action.path)})`, effect: 'allow' }
    case 'write':
      return { pattern: `file.${action.operation}(${escapeGlob(action.path)})`, effect: 'allow' }
    case 'fetch':
      return { pattern: `web(${escapeGlob(new URL(action.url).origin)}/*)`, effect: 'allow' }
    case 'send':
      return { pattern: `send(${escapeGlob(action.target)})`, effect: 'allow' }
    default:
      return action satisfies never
  }
}
