import type { Extension } from '@hermes/contracts/extension'
import { environmentContext } from './environment-context/extension.js'
import { type LoopGuardSettings, loopGuard } from './loop-guard/extension.js'
import { planMode } from './plan-mode/extension.js'
import { todoReminder } from './todo-reminder/extension.js'
import { truncationMarkers } from './truncation-markers/extension.js'

/** What an agent has when nothing else is chosen. */
export function standardExtensions(options: { readonly loopGuard?: LoopGuardSettings } = {}): readonly Extension[] {
  return [planMode(), truncationMarkers(), loopGuard(options.loopGuard), todoReminder(), environmentContext()]
}
