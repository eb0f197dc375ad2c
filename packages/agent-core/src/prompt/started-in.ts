import type { Environment } from '@hermes/contracts/environment'
import type { ToolState } from '@hermes/contracts/tool'

/** The folder where a session began, or goes on, in this process: its workspace, wherever its shell goes. Asked first when a run begins. */
export function startedIn(environment: Environment, { state }: { readonly state: ToolState }): string {
  return state.scratch('started-in', () => environment.cwd())
}
