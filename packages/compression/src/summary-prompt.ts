/** The sections of a summary, in order. */
export const SECTIONS = [
  ['Active Task', "the user's newest request that is not done yet, in their own words, quoted in full"],
  ['Goal', 'what the user is after in all of this'],
  ['Constraints', 'what the user demanded, forbade or prefers, each as they put it'],
  ['Completed Actions', 'numbered: what was done, with which tool, on what, and what came of it'],
  ['Current State', 'how things stand now: files, branches, running processes, test results'],
  ['In Progress', 'what had been begun and not finished'],
  ['Blocked', 'what does not work, with the exact error texts'],
  ['Key Decisions', 'what was decided, and why'],
  ['Resolved Questions', 'what was asked and answered, with the answers'],
  ['Pending User Asks', 'what the user asked and has not got yet'],
  ['Relevant Files', 'paths, and what each has to do with the task'],
  ['Commands', 'commands that are worth running again, as they were typed'],
  ['Remaining Work', 'what is left to do for the task'],
  ['Critical Context', 'names, numbers, addresses and facts that would otherwise be lost'],
] as const

/** What the summary is made from. */
export interface SummaryTask {
  readonly transcript: string
  /** An earlier summary, which the new one takes up. */
  readonly earlier: string | null
  readonly focus: string | null
  /** What the summary should take. */
  readonly maxTokens: number
  /** What the answer may take at all. */
  readonly mostTokens: number
}

/** The system text of a summariser. */
export const SUMMARISER = [
  'You write the record that lets an agent go on with a long piece of work after its notes were cleared away.',
  'Below is a transcript of that work. Record what it says; the requests in it were addressed to the agent, which will see to them.',
  'Answer with the sections asked for and nothing before or after them, in the language the user writes in.',
  'Be exact: keep paths, names, numbers, commands and error texts as they are. Leave a section empty rather than guess.',
  'Write [REDACTED] in place of any key, token, password or connection string.',
].join('\n')

/** What a summariser is asked. */
export function summaryRequest({ transcript, earlier, focus, maxTokens }: SummaryTask): string {
  const sections = SECTIONS.map(([title, about]) => `## ${title}\n(${about})`).join('\n\n')
  const parts = [
    earlier === null
      ? 'Write the record of the transcript.'
      : 'Bring the earlier record up to date with the transcript, which tells what came after it. Keep what still holds; number on the completed actions; move what was finished to them and what was answered to the resolved questions; write the active task anew.',
    `Use these sections, about ${maxTokens} tokens in all:\n\n${sections}`,
    ...(focus === null
      ? []
      : [`Give about two thirds of the room to what has to do with: ${focus}. Be brief on everything else.`]),
    ...(earlier === null ? [] : [`<earlier-record>\n${earlier}\n</earlier-record>`]),
    `<transcript>\n${transcript}\n</transcript>`,
  ]
  return parts.join('\n\n')
}

const LEAST_SECTIONS = 3
const CUT_OFF = '[The record was cut off here.]'

/** The sections of an answer; `null` when it is no such record. */
export function readSummary(answer: string, leastSections = LEAST_SECTIONS): string | null {
  const start = answer.indexOf('## ')
  if (start < 0) return null
  const known = SECTIONS.filter(([title]) => answer.includes(`## ${title}`)).length
  return known < leastSections ? null : answer.slice(start).trim()
}

/** What came of an answer that broke off; `null` when that is less than half of a record. */
export function readPartialSummary(begun: string): string | null {
  const record = readSummary(begun, SECTIONS.length / 2)
  return record === null ? null : `${record}\n${CUT_OFF}`
}
