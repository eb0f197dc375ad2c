import type { HermesConfig } from '@hermes/config'
import { type Clock, errorLine, knownTimeZone, type Logger } from '@hermes/contracts'
import type { UsageLedger } from '@hermes/contracts/store'
import type { BudgetGuard, UsageEvent } from '@hermes/models'
import type { UsageRecorder } from '@hermes/models/spending'

/** The books of a home: every finished call is written down, and calls are held against the budgets beforehand. */
export interface Spending {
  readonly onUsage: (event: UsageEvent) => void
  /** Absent where nothing is limited. */
  readonly budget: BudgetGuard | undefined
  /** Writes down what is waiting. Never rejects. */
  flush(): Promise<void>
}

/** Options of {@link openSpending}. */
interface SpendingOptions {
  readonly config: Pick<HermesConfig, 'budget' | 'timezone'>
  readonly ledger: () => Promise<UsageLedger>
  readonly clock: Clock
  readonly logger: Logger
}

/** Opens the books. Where nothing is limited they are loaded with the first finished call, not before. */
export async function openSpending(options: SpendingOptions): Promise<Spending> {
  const { budget, timezone } = options.config
  const isLimited = Object.values(budget).some((limit) => limit?.tokens !== undefined || limit?.usd !== undefined)
  if (!isLimited) return new LazySpending(options)
  const { createBudgetGuard, createUsageRecorder } = await import('@hermes/models/spending')
  const recorder = createUsageRecorder(options)
  return {
    onUsage: (event) => recorder.record(event),
    budget: createBudgetGuard({
      limits: budget,
      store: recorder,
      clock: options.clock,
      timeZone: knownTimeZone(timezone),
    }),
    flush: () => recorder.flush(),
  }
}

class LazySpending implements Spending {
  readonly budget = undefined
  readonly #options: SpendingOptions
  #recorder: Promise<UsageRecorder> | null = null
  /** The newest call on its way to the recorder. */
  #handed: Promise<void> = Promise.resolve()

  constructor(options: SpendingOptions) {
    this.#options = options
  }

  onUsage = (event: UsageEvent): void => {
    this.#recorder ??= this.#load()
    this.#handed = this.#recorder
      .then((recorder) => recorder.record(event))
      .catch((error: unknown) => {
        this.#options.logger.warn('A model call could not be written into the ledger.', { error: errorLine(error) })
      })
  }

  async #load(): Promise<UsageRecorder> {
    const { createUsageRecorder } = await import('@hermes/models/spending')
    return createUsageRecorder(this.#options)
  }

  async flush(): Promise<void> {
    await this.#handed
    const recorder = await this.#recorder?.catch(() => null)
    await recorder?.flush()
  }
}
