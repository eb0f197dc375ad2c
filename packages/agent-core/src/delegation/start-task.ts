import { type Clock, HermesError } from '@hermes/contracts'
import type { Agent } from '../agent.js'
import type { ChildTree } from './child-tree.js'
import type { Delegation } from './delegation.js'

/**
 * Hands a task of the person's own to a fresh agent in the background, with nothing of the conversation; resolves with its id. Its result is an
 * inbox message of the session.
 * @throws HermesError `agent.no_background` where no results come later, or nothing may be delegated.
 */
export async function startTask(
  agent: Pick<Agent, 'mail'>,
  goal: string,
  {
    delegation,
    clock,
  }: { readonly delegation: (Delegation & { readonly tree: ChildTree }) | null; readonly clock: Clock },
): Promise<string> {
  const mail = delegation && (await agent.mail())
  if (!mail) throw new HermesError('Nothing can be given to the background here.', { code: 'agent.no_background' })
  const { delegateInBackground } = await import('./background.js')
  const options = { delegation, tree: delegation.tree, clock, mail }
  const [started] = await delegateInBackground([{ goal, context: '', role: 'leaf' }], options)
  return started!.node.id
}
