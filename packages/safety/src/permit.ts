import { HermesError } from '@hermes/contracts'
import type { Action, Permit } from '@hermes/contracts/policy'

/** Leave to do `action` once. */
export function createPermit(action: Action): Permit {
  // The brand of the contract is a type nobody outside can write; the private field is its counterpart at run time.
  return new SingleUsePermit(action) as unknown as Permit
}

/** Whether `value` was made by {@link createPermit} of this copy of the package. */
export function isPermit(value: unknown): value is Permit {
  return SingleUsePermit.made(value)
}

class SingleUsePermit {
  readonly action: Action
  #used = false

  constructor(action: Action) {
    this.action = Object.freeze(copyOf(action))
  }

  static made(value: unknown): boolean {
    return typeof value === 'object' && value !== null && #used in value
  }

  consume(action: Action): void {
    if (this.#used) {
      throw new HermesError('This permit was used already; ask the policy for a new one.', {
        code: 'policy.permit_used',
      })
    }
    if (!sameAction(this.action, action)) {
      throw new HermesError(`This permit is for "${this.action.type}" of something else; ask the policy again.`, {
        code: 'policy.permit_mismatch',
        details: { permitted: this.action.type, attempted: action.type },
      })
    }
    this.#used = true
  }
}

/** Most fields are texts, which nobody can change. */
function copyOf(action: Action): Action {
  const fields = Object.entries(action).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === 'object' && value !== null ? structuredClone(value) : value,
  ])
  return Object.fromEntries(fields) as Action
}

/** Whether two actions are the same in every field; absent and `undefined` are equal. */
function sameAction(left: Action, right: Action): boolean {
  return isPlainlySame(left, right) || flatAction(left) === flatAction(right)
}

/** Whether they have the same fields with the same texts, which says it without writing them down; `false` leaves it open. */
function isPlainlySame(left: Action, right: Action): boolean {
  const [fields, others] = [left, right] as unknown as readonly Readonly<Record<string, unknown>>[]
  const names = Object.keys(fields!)
  return (
    names.length === Object.keys(others!).length &&
    names.every(
      // A field that is there without a value is not one that is missing.
      (name) => Object.hasOwn(others!, name) && typeof fields![name] !== 'object' && fields![name] === others![name],
    )
  )
}

/** An action as text, the same for actions that are the same. */
export function flatAction(action: Action): string {
  return JSON.stringify(
    Object.entries(action)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .filter(([, value]) => value !== undefined),
  )
}
