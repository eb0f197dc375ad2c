import type { Bindings } from '../editor/bindings.js'

/** What keys do in a conversation, for its help: rows of a key and what it does. */
export function keysHelp({ name }: Bindings, isVi: boolean): readonly { readonly cells: readonly string[] }[] {
  const rows = [
    [name('submit'), 'send; during a run: queue for the next turn'],
    [name('newline'), 'new line (also \\ before Enter)'],
    [name('steer'), 'send to the run under way'],
    ['/ and @', 'commands; files and sessions to attach: Tab or Enter takes one, Esc closes'],
    ['! COMMAND', 'run it yourself; the model sees it with your next message'],
    [name('complete'), 'complete commands and file names'],
    [name('stop'), `stop the run; what was queued comes back to the line${isVi ? ' (pressed twice)' : ''}`],
    [name('interrupt'), 'the same; without a run: clear the line; twice: leave'],
    [name('search'), 'search earlier lines'],
    [name('editor'), 'edit the line in $VISUAL or $EDITOR (also Ctrl-X Ctrl-E)'],
    [name('undo'), 'take back the last change of the line'],
    [name('stash'), 'put the line aside; it comes back after the next one'],
  ]
  return rows.map((cells) => ({ cells }))
}
