import type { Extension, HookEvent } from '@hermes/contracts/extension'
import { evidenceOf } from './evidence.js'

/** `auto`: files of prose, in which nothing can be run, are left alone. */
export type VerifyOnStop = 'auto' | 'on' | 'off'

/** Whoever wants to add to what an answer waits for comes first. */
const ORDER = 50
const NAMED = 5
const PROSE = /(?:\.(?:md|mdx|markdown|txt|text|rst|adoc|org|log)|(?:^|\/)(?:LICENSE|NOTICE|AUTHORS|CHANGELOG))$/i

/** What of a run is not checked yet. */
interface Unchecked {
  readonly files: Set<string>
  /** The program that runs changed files itself: that it ran shows nothing about them. */
  hasProgramChanged: boolean
  wasReminded: boolean
}

/**
 * Has the model check before it says that it is done: an answer after files were changed, and neither run nor looked at since, waits for one
 * reminder. A turn without changes costs nothing, and a second answer stands whatever it says.
 */
export function verifyOnStop(mode: VerifyOnStop = 'auto'): Extension {
  return {
    name: 'verify-on-stop',
    setup({ hooks }) {
      if (mode === 'off') return
      const isChecked = (path: string) => mode === 'on' || !PROSE.test(path)
      hooks.on('tool-result', (event) => {
        const unchecked = of(event)
        const { changed, hasRun, looksAt } = evidenceOf(event)
        const isProgram = event.toolName === 'execute_code'
        if (hasRun && !(isProgram && unchecked.hasProgramChanged)) unchecked.files.clear()
        if (isProgram) unchecked.hasProgramChanged = false
        for (const path of unchecked.files) if (looksAt(path)) unchecked.files.delete(path)
        for (const path of changed.filter(isChecked)) unchecked.files.add(path)
        if (event.caller === 'program') unchecked.hasProgramChanged = unchecked.files.size > 0
        return undefined
      })
      hooks.on(
        'answer',
        (event) => {
          const unchecked = of(event)
          if (unchecked.files.size === 0 || unchecked.wasReminded) return undefined
          unchecked.wasReminded = true
          return reminder([...unchecked.files], event)
        },
        { order: ORDER },
      )
    },
  }
}

const of = (event: HookEvent) =>
  event.perRun('verify-on-stop', (): Unchecked => ({ files: new Set(), hasProgramChanged: false, wasReminded: false }))

function reminder(paths: readonly string[], { environment }: HookEvent): string {
  const root = environment?.root ?? ''
  const names = paths.slice(0, NAMED).map((path) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path))
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : ''
  return `[Not checked yet: you changed ${names.join(', ')}${more} and have neither run nor looked at it since. Check it now with one call, then answer. Where nothing can be checked, say so.]`
}
