import type { Extension } from '@hermes/contracts/extension'

/** Tells the model how long it has worked on a request, stops it after `maxMinutes`, and keeps a count of what it changed. */
export const timeKeeper = ({ maxMinutes = 30 } = {}): Extension => ({
  name: 'time-keeper',
  setup({ hooks }) {
    const startedMs = (event: { perRun<T>(key: string, create: () => T): T; clock: { now(): number } }) =>
      event.perRun('time-keeper.started', () => event.clock.now())
    let changes = 0

    // Observers watch. One that throws is logged and skipped.
    hooks.on('run-start', (event) => void startedMs(event))
    hooks.on('before-action', ({ action }) => void (action.type === 'write' && changes++))

    // Gates may object. One that throws objects.
    hooks.on('before-model-call', (event) => {
      const minutes = (event.clock.now() - startedMs(event)) / 60_000
      if (minutes <= maxMinutes) return
      const message = `The limit of ${maxMinutes} minutes is reached. Continue the session to go on.`
      return { type: 'end-run', code: 'time-keeper.late', message }
    })

    // Transformers add. Other text is frozen: the beginning of every request keeps its bytes.
    hooks.on('input', () => ({
      after: [
        { type: 'text', text: `You have ${maxMinutes} minutes. Files changed so far: ${changes}.`, origin: 'reminder' },
      ],
    }))

    return () => {
      changes = 0
    }
  },
})
