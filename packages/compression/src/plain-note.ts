const ENDING =
  'messages were left out here to make room, and no summary of them could be made. ' +
  'They are kept in the session. Go by the messages that follow and by how files and other things stand now; look before you act.'
const NOTE = new RegExp(`(?:^|\\n\\n)(\\d+) ${ENDING.replaceAll('.', '\\.')}(?=\\n\\n|$)`, 'g')

/** Stands for messages that went without a summary, behind what earlier summaries say. Notes of before become one with it. */
export function plainNote(earlier: string | null, messages: number): string {
  let all = messages
  const text = (earlier ?? '')
    .replace(NOTE, (_, count: string) => {
      all += Number(count)
      return ''
    })
    .trim()
  const note = `${all} ${ENDING}`
  return text === '' ? note : `${text}\n\n${note}`
}
