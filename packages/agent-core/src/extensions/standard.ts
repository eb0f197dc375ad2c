import type { Extension } from '@hermes/contracts/extension'
import type { LoopGuardOptions } from '../loop-guard.js'
import { environmentContext } from './environment-context.js'
import { loopGuard } from './loop-guard.js'
import { planMode } from './plan-mode.js'
import { todoReminder } from './todo-reminder.js'
import { truncationMarkers } from './truncation-markers.js'

/** What an agent has when nothing else is chosen. */
export function standardExtensions(options: { readonly loopGuard?: LoopGuardOptions } = {}): readonly Extension[] {
  return [planMode(), truncationMarkers(), loopGuard(options.loopGuard), todoReminder(), environmentContext()]
}
