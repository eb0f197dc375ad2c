import { choice, flag, oneOf, record, section, someSection, text, texts, whole } from './kinds.js'

// YAML 1.1 writes the words on and off as booleans.
const callsOfChats = choice({ off: 'off', new: 'new', all: 'all', verbose: 'verbose', false: 'off', true: 'all' })

/** `display`: what the person at the terminal sees, and with which keys they type. */
export const DISPLAY = section({
  personality: text('').describe(
    'How the agent speaks in new sessions: a name that `/personality` knows. Default none.',
  ),
  busy_input_mode: oneOf(
    'queue',
    'steer',
    'interrupt',
    'background',
  )('queue').describe(
    'What a line sent during a run does: it waits, is told to the run, ends it, or is done in a session of its own (in chats it waits then).',
  ),
  show_reasoning: flag(false).describe(
    'Whether the terminal shows what the model thinks, where its provider tells. Editors and clients of the gateway always get it.',
  ),
  // YAML 1.1 writes the words on and off as booleans.
  tool_progress: choice({ off: 'off', new: 'all', all: 'all', verbose: 'verbose', false: 'off', true: 'all' })(
    'all',
  ).describe('Calls of tools: `off` shows those that failed, `all` a line each, `verbose` also what came of them.'),
  inline_diffs: flag(true).describe('Whether a change of a file is shown below its line.'),
  final_response_markdown: choice({ render: 'render', strip: 'render', raw: 'raw' })('render').describe(
    'Answers are drawn as Markdown, or printed as the model wrote them (`raw`).',
  ),
  resume_display: oneOf('full', 'minimal')('full').describe('`minimal`: a session that goes on shows none of its end.'),
  resume_exchanges: whole(1, 100)(3).describe('How many of your messages, with their answers, it shows else.'),
  timestamps: flag(false).describe('Whether your messages have the time before them.'),
  timestamp_format: text('%H:%M').describe('`%Y %m %d %H %I %M %S %p %a %b` are filled in.'),
  show_cost: flag(true).describe('Whether the bar tells what the session has cost.'),
  status_bar: section({
    fields: texts().describe(
      'What it tells, of `model`, `context`, `cost`, `modes`, `title`, `folder`, `branch`. Default: all.',
    ),
  }).describe('The bar below the line.'),
  skin: text('default').describe('Colours: a name that `hermes skin` lists, or a file `skins/NAME.yaml` of the home.'),
  screen_reader: flag(false).describe(
    'Nothing on the screen is drawn again, nothing moves, and words stand for signs; lines are edited by the terminal itself.',
  ),
  vim_mode: flag(false).describe('Whether the line is edited with the keys of vi. Default: those of Emacs.'),
  keys: record(text()).describe(
    'Other keys for the line, by what they do: `search: ctrl+o`, several with spaces between, `ctrl+k>o` for one after the other, `none` for no key. `/help` names them all.',
  ),
  bell: whole(
    0,
    86_400,
  )(30).describe(
    'The terminal rings when a turn of so many seconds ends, or a question waits, and nobody looks; 0: never.',
  ),
  background_process_notifications: oneOf(
    'off',
    'error',
    'result',
    'concise',
    'all',
  )('concise').describe(
    'Whether a chat is told in a line that a task in the background has ended: `error` of those that failed, `off` of none.',
  ),
  runtime_footer: section({
    enabled: flag(false).describe('Whether a chat gets such a line.'),
    fields: texts().describe('Of `model`, `context_pct`, `cwd`, `latency`. Default: all but the last.'),
  }).describe('A line after each answer in a chat: what made it. `/footer` of a chat counts before this.'),
  platforms: record(
    someSection({
      tool_progress: callsOfChats().describe(
        'Calls of tools while they are made, in one message that grows: `new` names each tool once in a row, `all` has a line for each, `verbose` also what came of it. Default `off`.',
      ),
      runtime_footer: flag().describe('In place of `display.runtime_footer.enabled`.'),
    }),
  ).describe('What is shown in chats, by platform; one that cannot change messages shows no calls.'),
}).describe('The screen of a conversation, its keys, and what chats show beside answers.')
