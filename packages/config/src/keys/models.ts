import {
  amount,
  anything,
  choice,
  effort,
  flag,
  list,
  map,
  name,
  oneOf,
  record,
  seconds,
  section,
  someSection,
  someTexts,
  temperature,
  text,
  whole,
} from './kinds.js'
import { QUIRKS } from './quirks.js'

const STRATEGIES = {
  fill_first: 'fill_first',
  round_robin: 'round_robin',
  least_used: 'least_used',
  random: 'random',
  'fill-first': 'fill_first',
  'round-robin': 'round_robin',
  'least-used': 'least_used',
} as const

const oauth = someSection({
  client_id: text(),
  client_secret: text(),
  issuer: text().describe('Names the endpoints below that are not given.'),
  scope: text().describe('Separated by spaces.'),
  device_authorization_endpoint: text(),
  authorization_endpoint: text(),
  token_endpoint: text(),
  redirect_port: whole(0, 65_535)().describe(
    'Where the browser comes back to on this machine. Default: any free port.',
  ),
})

const budget = someSection({
  tokens: whole(1)().describe('Input and output, cached input included.'),
  usd: amount().describe('US dollars.'),
})

/** One auxiliary task: who does it, and how long it may take. */
const auxiliaryTask = someSection({
  enabled: flag(true),
  provider: name(),
  model: name(),
  base_url: text(),
  api_key: text(),
  key_env: text().describe('The environment variable that holds the key.'),
  timeout: seconds().describe('Seconds.'),
  max_tokens: whole(1)().describe('Tokens of the answer.'),
  reasoning_effort: effort().describe('Default: as the provider has it.'),
  temperature: temperature().describe('0 to 2. Default: as the task needs it, else as the provider has it.'),
  extra_body: anything().describe('Further fields of each request body.'),
  language: text().describe('Of titles. Default: that of the conversation.'),
  fallback_chain: list().describe('Asked in turn when the first does not answer, like `fallback_providers`.'),
})

/** Which models answer, and what they may cost. */
export const MODELS = {
  model: section(
    {
      default: name(),
      provider: name(),
      base_url: text(),
      api_key: text(),
      key_env: text().describe('The environment variable that holds the key.'),
      api_mode: text().describe(
        '`chat_completions`, `anthropic_messages`, `bedrock_converse` or `codex_responses`. Default: judged by provider and address.',
      ),
      context_length: whole(1)().describe('Tokens. Default: found out.'),
      max_tokens: whole(1)().describe('Tokens of one answer. Default: as the provider has it.'),
      temperature: temperature().describe(
        '0 to 2; a wire that knows less takes its most. Models that take none are sent none. Default: as the provider has it.',
      ),
      extra_headers: anything().describe('Sent with each request; never logged.'),
    },
    { shorthand: 'default', aliases: { model: 'default' } },
  ).describe(
    'What is asked when nothing else is said. A plain text in the file is `default`; `model.model` is another name of it.',
  ),
  providers: record(
    section({
      aliases: someTexts().describe('Other names of it. Those of the catalogue count more.'),
      base_url: text(),
      api_key: text(),
      key_env: text().describe('The environment variable that holds the key.'),
      key_envs: someTexts().describe('Further variables with keys, which stand in for the first.'),
      model: name(),
      models: anything().describe(
        'Names of its models, as a list or as a map to `context_length`, `timeout_seconds`, `stale_timeout_seconds` …',
      ),
      api_mode: text().describe('As in `model`.'),
      quirks: QUIRKS.describe('How it departs from the plain protocol of its wire.'),
      context_length: whole(1)().describe('Tokens, for all its models. Default: found out.'),
      extra_headers: anything().describe('Sent with each request; never logged.'),
      extra_body: anything().describe('Further fields of each request body.'),
      request_timeout_seconds: seconds().describe('Until the first byte of an answer. Default 600.'),
      stale_timeout_seconds: seconds().describe('Without any progress of an answer that has begun. Default 180.'),
      oauth: oauth.describe('How to log in there. Without `client_id` nobody can.'),
    }),
  ).describe('Named endpoints.'),
  credential_pool_strategies: record(choice(STRATEGIES)('fill_first')).describe(
    'How the next of several keys is chosen, by provider. Default `fill_first`.',
  ),
  custom_providers: list().describe(
    'Named endpoints as a list of maps with a `name`; those under `providers` count more.',
  ),
  fallback_providers: list(),
  routing: list().describe(
    'Rules that decide which model a new session gets, the first that fits: `model`, `provider` or `base_url`, and `when`: `kind`, `folder`, `min_tokens`, `max_tokens`, `hours`, `days`. A project has an account of its own by the name of a provider with its own key: `{provider: work, when: {folder: ~/work}}`.',
  ),
  moa: section({
    default_preset: text('default'),
    presets: map().describe(
      'By name: `reference_models`, a list of maps with `provider` and `model`, and an `aggregator`.',
    ),
  }).describe('Mixtures of models, chosen with the provider `moa`.'),
  model_aliases: record(
    section(
      {
        model: name(),
        provider: name().describe('Default: as for any other model.'),
        base_url: text(),
        key_env: text().describe('The environment variable that holds the key.'),
      },
      { shorthand: 'model' },
    ),
  ).describe("Names of one's own for models, in any case: wherever the name of a model may stand."),
  model_overrides: map().describe(
    'What is known about models, by name: `context_window`, `max_output_tokens`, `supports_vision`, `supports_audio`, `supports_files`, prices per million tokens …',
  ),
  models_dev: section({
    url: text().describe('Where facts about models are fetched. Default: models.dev.'),
    refresh: flag(true).describe('Whether they are fetched at all, once a day at most.'),
  }),
  budget: section({
    turn: budget,
    session: budget,
    day: budget,
    month: budget,
  }).describe('What may be spent for one run, one session, one day, one month. Default: anything.'),
  auxiliary: section({
    vision: auxiliaryTask,
    compression: auxiliaryTask,
    title_generation: auxiliaryTask,
    session_summary: auxiliaryTask,
    approval: auxiliaryTask,
    mcp: auxiliaryTask,
    goal_judge: auxiliaryTask,
    background_review: auxiliaryTask,
    curator: auxiliaryTask,
  }).describe('Auxiliary tasks by name: `title_generation`, `session_summary`, `compression`, `vision` …'),
  bedrock: section({
    region: text().describe('Default: that of `AWS_REGION`, else `us-east-1`.'),
    guardrail: section({
      identifier: text(),
      version: text(),
      stream_processing_mode: oneOf(
        'async',
        'sync',
      )('async').describe('`sync` holds a stream back until it was checked.'),
      trace: oneOf('disabled', 'enabled', 'enabled_full')('disabled'),
    }).describe('Applied to each request when both names are given.'),
  }).describe('What Amazon Bedrock wants to know beside a key.'),
  prompt_caching: section({
    cache_ttl: oneOf(
      '5m',
      '1h',
    )('5m').describe('How long a provider with marks for its cache keeps a prefix; an hour costs more to write.'),
    keep_warm: flag(true).describe(
      'Whether a request for one token keeps a prefix in the cache of such a provider while a tool or a person takes longer, where that is cheaper than writing it anew.',
    ),
  }),
}
