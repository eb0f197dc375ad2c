import { decodeRuns, findTurnedAround } from './scan/encoded.js'
import { findConcealed, findInvisible, stripInvisible } from './scan/invisible.js'
import { closeUp, foldDigits, foldLookAlikes, looseForm, mayHaveLookAlikes, squeeze } from './scan/look-alikes.js'
import { steeringIn } from './scan/patterns.js'

/** Something in a text that tries to steer the agent behind the user's back. */
export interface ContextFinding {
  /** Stable name, for example `override-instructions`. */
  readonly rule: string
  /** Counted from 1. */
  readonly line: number
}

/**
 * Looks for attempts to take over the agent in text from outside: in the text as it is, without invisible characters, with look-alike
 * letters folded and words closed up, and in what it holds encoded. Pure; of the order of a millisecond for 100,000 characters.
 * A rule is reported once, where it first applies. @see 001 section 12.9
 */
export function scanContext(text: string): readonly ContextFinding[] {
  const findings = new Findings(text)
  const lower = text.toLowerCase()
  for (const { rule, at } of steeringIn(text, lower)) findings.add(rule, at)
  findings.add('invisible-text', findConcealed(text))
  const seen = /[^\x00-\x7f]/.test(text) ? asSeen(text, findings) : lower
  findings.addDisguised(seen)
  for (const run of decodeRuns(text))
    if (!steeringIn(run.text, run.text.toLowerCase()).next().done) findings.add('encoded-instructions', run.at)
  findings.add('encoded-instructions', findTurnedAround(lower))
  return findings.list
}

/** The text as a reader takes it, in lower case. */
function asSeen(text: string, findings: Findings): string {
  findings.add('invisible-text', findInvisible(text))
  const stripped = stripInvisible(text)
  if (stripped !== text && findings.list.length === 0) findings.addWhere('invisible-text', stripped)
  if (!mayHaveLookAlikes(stripped)) return stripped.toLowerCase()
  const folded = foldLookAlikes(stripped)
  if (findings.list.length === 0) findings.addWhere('look-alike-letters', folded)
  return folded.toLowerCase()
}

/** An order to forget, with nothing between its letters. */
const SQUEEZED =
  /(?:ignore|disregard|forget|override|bypass)(?:all|any|every|of|the|your|these|previous|prior|above|earlier){1,5}(?:instruction|prompt|rule|directive|guideline|order)|(?:ignore|disregard|forget)(?:the|all|your)*(?:instruction|rule|prompt)s?(?:above|before)|youarenow(?:an?)?(?:unrestricted|free)|donottelltheuser/

/** How each of those begins, before its digits are folded and its gaps taken out: most texts hold nothing of the kind. */
const SQUEEZED_STARTS = new RegExp(
  ['ignore', 'disregard', 'forget', 'override', 'bypass', 'youarenow', 'donottelltheuser'].map(looseForm).join('|'),
)

class Findings {
  readonly list: ContextFinding[] = []
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  add(rule: string, at: number, text = this.#text): void {
    if (at < 0 || this.list.some((finding) => finding.rule === rule)) return
    this.list.push({ rule, line: text.slice(0, at).split('\n').length })
  }

  /** What only shows in another form of the text; that has the same lines. */
  addWhere(rule: string, form: string): void {
    for (const { at } of steeringIn(form, form.toLowerCase())) this.add(rule, at, form)
  }

  /** Words with digits for letters, drawn apart or cut up. What is plain to see is found without this. */
  addDisguised(seen: string): void {
    if (this.list.length > 0 || !SQUEEZED_STARTS.test(seen)) return
    const folded = foldDigits(seen)
    if (!SQUEEZED.test(squeeze(folded))) return
    this.addWhere('look-alike-letters', folded)
    if (this.list.length === 0) this.addWhere('look-alike-letters', closeUp(folded))
  }
}

/** What stands in the prompt in place of a file with findings. */
export function blockedContext(name: string, findings: readonly ContextFinding[]): string {
  const list = findings.map(({ rule, line }) => `${rule} in line ${line}`).join(', ')
  return `[BLOCKED: ${name} was left out because it may carry a prompt injection (${list}). Tell the user if it matters.]`
}
