import { PLAN_HINT } from './plan-hint.js'
import type { Talk } from './talk.js'

/** `/plan`: from here on only tools that change nothing, until `/plan accept` or `/plan off`. */
export async function plan(talk: Talk, args: string): Promise<void> {
  const { agent } = talk.seat
  switch (args) {
    case 'accept':
      if (!(await agent.endPlan('accept'))) return talk.say('There is no plan to accept: /plan begins one.')
      return talk.turn({ resume: true })
    case 'off':
      return talk.say((await agent.endPlan('leave')) ? 'Plan mode is off.' : 'Plan mode was not on.')
    default: {
      const isNew = await agent.plan()
      if (args !== '') return talk.turn(args)
      return talk.say(isNew ? 'Plan mode is on: nothing is changed until you accept a plan.' : PLAN_HINT)
    }
  }
}
