import { flag, oneOf, someSection, someTexts, whole } from './kinds.js'

/** `providers.NAME.quirks`: how an endpoint departs from the plain protocol of its wire. What is not said stays as it is known. */
export const QUIRKS = someSection(
  {
    output_limit_parameter: oneOf('max_tokens', 'max_completion_tokens')().describe(
      'The parameter that limits output.',
    ),
    refuses_output_limit: flag().describe('Any limit of output is refused, so that none is sent.'),
    default_max_output_tokens: whole(1)().describe('Tokens that are asked for when a request names no limit.'),
    developer_role_models: someTexts().describe(
      'Parts of model names whose system text goes out with the role `developer`.',
    ),
    fixed_temperature_models: someTexts().describe('Parts of model names that take no `temperature`.'),
    reasoning_effort_shape: oneOf('flat', 'nested', 'thinking', 'google', 'none')().describe(
      'How reasoning effort is asked for.',
    ),
    reasoning_effort_models: someTexts().describe('Parts of model names that take an effort.'),
    replay_reasoning_as: oneOf('reasoning_content', 'reasoning', 'reasoning_details')().describe(
      'The field in which earlier reasoning goes back.',
    ),
    reasoning_required: flag().describe('A message with tool calls is refused without `reasoning_content`.'),
    replay_call_extras: flag().describe('What the endpoint attaches to a tool call goes back with it.'),
    think_tags: someTexts().describe('Names of tags whose content, at the start of an answer, is reasoning.'),
    schema_dialect: oneOf('gemini', 'moonshot', 'llama-cpp')().describe(
      'The dialect of JSON Schema that tools are described in.',
    ),
    answer_formats: oneOf('schema', 'json', 'none')().describe(
      'What of formats of answers is taken: schemas, that they are JSON, or nothing.',
    ),
    format_without_tools_models: someTexts().describe(
      'Parts of model names that take no format of answers beside tools.',
    ),
    service_tiers: flag().describe('Answers are made sooner or later for other prices, where they are asked for so.'),
    reserved_tool_names: someTexts().describe('Tool names that the endpoint keeps for itself.'),
    call_ids: someSection(
      {
        // A shorter id would not tell calls apart.
        max_chars: whole(8)(),
        exactly: flag(),
      },
      { isClosed: true },
    ).describe('The form of call ids that the endpoint takes.'),
    cache_marks: someSection(
      {
        models: someTexts(),
        max_ttl: oneOf('5m')(),
      },
      { isClosed: true },
    ).describe(
      "Parts of model names that take marks for the provider's cache, and how long it keeps a prefix at most.",
    ),
    repair: someSection(
      {
        merge_adjacent_users: flag(),
        start_with_user: flag(),
        end_with_user: flag(),
        assistant_after_results: flag(),
      },
      { isClosed: true },
    ).describe('What is wanted of the order of messages.'),
    content_as_list: flag().describe('User content goes out as a list of parts even when it is text alone.'),
    credential_header: oneOf('x-api-key', 'authorization')().describe(
      'How a key goes to an endpoint of the wire `anthropic_messages`.',
    ),
  },
  { isClosed: true },
)
