/** What keys do in a conversation, for its help. */
export const KEYS_HELP = [
  ['Enter', 'send; during a run: queue for the next turn'],
  ['Alt-Enter', 'new line (also Ctrl-J, or \\ before Enter)'],
  ['Alt-S', 'send to the run under way'],
  ['Tab', 'complete commands and file names'],
  ['Ctrl-C', 'stop the run, clear the line; twice: leave'],
].map((cells) => ({ cells }))
