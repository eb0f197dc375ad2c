import type { Prose } from '../prose.js'

/** How servers of this wire say things: OpenAI, the gateways, the vendors of China, and servers on the own machine. */
export const CHAT_COMPLETIONS_PROSE: Prose = {
  words: {
    'content-policy':
      /content[ _](?:management )?policy|content_filter|content exists risk|flagged|moderation|safety system|prohibited|responsible ?ai ?policy|cyber.?security risk|sensitive (?:words|content)|inappropriate content|敏感内容|不当内容/i,
    'provider-policy': /data policy|privacy settings|guardrail restrictions/i,
    grammar:
      /(?:pars(?:e|ing)|generat(?:e|ing)|convert(?:ing)?|compil(?:e|ing)).{0,40}grammar|grammar(?: error|.{0,20}too (?:complex|large))|xgrammar|guided[ _]decoding|unable to generate parser|json schema conversion failed|failed to initialize samplers/i,
    schema:
      /(?:invalid|unsupported|malformed).{0,40}(?:json[ _-]?schema|schema for (?:function|tool))|json[ _-]?schema.{0,60}(?:invalid|unsupported|not supported|must match)|input_schema.{0,60}(?:invalid|not supported)|function_declarations.{0,200}(?:format|pattern|any_?of|enum|should be|unknown name)/i,
    plan: /free[ _-]tier|(?:paid|pro|plus|max) (?:plan|tier|subscription)|(?:plan|subscription|tier) (?:does not|doesn't) (?:include|allow|cover)|not (?:available|included) (?:on|in|with|for) (?:your|the|this).{0,30}(?:plan|tier|subscription)|upgrade (?:your (?:plan|account|subscription)|to )/i,
    entitlement:
      /(?:does not|doesn't) have an active (?:grok )?subscription|out of (?:grok )?resources|not (?:authorized|entitled) to use this (?:copilot )?feature/i,
    key: /api[ _-]?key.{0,40}(?:invalid|not valid|incorrect|missing|expired)|(?:invalid|incorrect|missing|wrong) (?:api[ _-]?key|credential|token|authentication)|unauthori[sz]ed|authentication fails|令牌.{0,10}(?:无效|过期)/i,
    'key-dead': /revoked|deactivated|disabled|suspended|terminated/i,
    billing:
      /insufficient (?:credits?|quota|balance|funds|account balance)|exceeded your current quota|out of credits|credit balance|billing|payment required|(?:requires?|need|add) more credits|can only afford|top up|any credits|included credits|arrears|arrearage|key limit exceeded|balance is not enough|余额不足|欠费/i,
    'usage-limit': /usage limit|quota|limit (?:reached|exceeded)|rate limit/i,
    transient:
      /try again|retry|resets? (?:at|in|on)|regain access|tomorrow|per (?:minute|hour|day)|-per-(?:min|day)|temporar|later/i,
    rate: /rate[ _-]?limit|too many requests|requests? (?:rate|per (?:minute|second|day))|tokens per minute|throttl|concurrency|请求过于频繁|速率限制/i,
    overloaded:
      /overloaded|over capacity|at capacity|temporarily unavailable|currently unavailable|engine is (?:currently )?busy|server (?:is )?busy|loading model|no (?:available|healthy) (?:channel|upstream)|访问量过大|系统繁忙/i,
    context:
      /context[ _-]?(?:length|window|size|limit)|maximum context|max_model_len|n_ctx|too many (?:input )?tokens|input (?:is|token (?:count|length)|length).{0,40}(?:too long|exceeds)|exceeds? .{0,30}(?:max(?:imum)?|limit).{0,20}tokens|reduce the length|exceeds the available context|context the overflows|request too large for .{0,80}tokens|tokens.{0,30}must be <=|token limit|token count.{0,40}exceeds|range of input length|(?:prompt|input)(?: length)?[^.]{0,30}(?:exceeds|longer than) (?:the )?(?:model.s )?max(?:imum)?[ _](?:model |prompt |input |sequence )?len(?:gth)?|max(?:imum)? (?:prompt|input|sequence|model) len(?:gth)?|slot context|tokens to keep from the initial prompt|prompt (?:is )?too long|上下文.{0,12}(?:超|长)|输入.{0,8}(?:过长|超)|(?:超过|超出|超长).{0,12}(?:最大)?长度|最大长度限制|prompt ?超长|max_tokens must be at least 1, got -/i,
    payload: /request (?:body|entity) (?:is )?too large|payload too large/i,
    image: /image.{0,60}(?:too large|exceeds|maximum|dimension|size)|(?:too large|exceeds).{0,40}image/i,
    'no-images':
      /(?:not|n't) (?:support|accept|allow|take)\w* (?:for )?(?:image|vision)|that support image|image.{0,60}(?:not (?:supported|allowed|accepted)|only (?:allowed|supported))|unknown variant .image_url|content\S{0,20}type.{0,4} input should be .text/i,
    'no-attachments':
      /(?:audio|file|document|pdf)s?(?: inputs?| content)?s? (?:is|are) (?:not|n't) (?:supported|allowed|accepted)|(?:not|n't) (?:support|accept|allow|take)\w* (?:for )?(?:audio|file|document|pdf)|that support (?:input audio|audio|file)|at most 0 audio|unknown variant .(?:input_audio|file)\b|unsupported content\[\]\.type|unknown part type|content blocks are expected to be/i,
    'tool-content':
      /tool.{0,60}(?:content|message).{0,40}(?:must be|should be|expected) a? ?(?:string|text)|text is not set|invalid type for .messages\[\d+\]\.content.{0,80}tool/i,
    'model-missing':
      /not a valid model|model.{0,120}(?:not found|does not exist|not exist|is not (?:available|supported|a valid)|unknown|unavailable|no longer)|(?:no such|unknown|invalid|unsupported) model|no endpoints found|try pulling it|deployment.{0,40}does not exist|模型.{0,12}不存在/i,
    'no-room': /requires more system memory/i,
    unsupported:
      /unknown name .{0,80}cannot find field|(?:unsupported|unknown|unrecognized|unexpected|extra) (?:parameter|value|argument|field|input|request argument)|extra inputs are not permitted|not supported (?:with|by|for) this model|does not support|is not supported when|is deprecated for this model/i,
    streaming:
      /\bstream(?:ing|_options)?\b.{0,80}(?:support|unknown|unrecognized|extra|not allowed|invalid|must be (?:verified|false))|(?:support|unknown|unrecognized|extra|not allowed|invalid|must be (?:verified|false)).{0,80}\bstream(?:ing|_options)?\b/i,
  },
  codes: {
    'content-policy': [
      'content_filter',
      'responsibleaipolicyviolation',
      'content_policy_violation',
      '1301',
      'data_inspection_failed',
      'datainspectionfailed',
      'cyber_policy_violation',
    ],
    key: [
      'invalid_api_key',
      'invalid_authentication_error',
      'incorrect_api_key_error',
      'invalidapikey',
      '1000',
      '1001',
      '1002',
    ],
    'key-dead': ['1110', '1111', '1112', '1121'],
    plan: ['1309', '1311'],
    billing: [
      'insufficient_quota',
      'billing_not_active',
      'payment_required',
      'insufficient_credits',
      'insufficient_balance',
      'exceeded_current_quota_error',
      'arrearage',
      '1113',
      '1008',
    ],
    rate: [
      'rate_limit_exceeded',
      'rate_limited',
      'resource_exhausted',
      'throttled',
      'throttling',
      'throttling.ratequota',
      'throttling.allocationquota',
      'limitrequests',
      'rate_limit_reached_error',
      'too_many_requests',
      '1302',
      '1303',
    ],
    overloaded: ['engine_overloaded_error', 'engine_overloaded', 'overloaded', 'unavailable', '1305'],
    context: [
      'context_length_exceeded',
      'exceed_context_size_error',
      'string_above_max_length',
      'model_max_prompt_tokens_exceeded',
    ],
    'model-missing': ['model_not_found', 'model_not_supported', 'deploymentnotfound', 'invalid_model', '1211'],
    unsupported: ['unsupported_parameter', 'unsupported_value', 'unknown_parameter', 'extra_forbidden'],
  },
  windows: [
    /(?:maximum|max) (?:context|input|prompt)[ _](?:length|window|size) (?:is|of|\()\D{0,12}([\d,_]{3,})/i,
    /maximum number of tokens allowed \(([\d,]+)\)/i,
    // A number in brackets alone may be the code of the error.
    /context (?:window|length|size|limit)[^.\d]{0,30}([\d,_]{3,})[ -]?tokens/i,
    /context (?:window|length|size|limit)(?: limit)? ?(?:is|of|:|=) ?(?:only |at most |up to )?([\d,_]{3,})/i,
    /slot context\D{0,12}([\d,_]{3,})/i,
    /max(?:imum)? model len(?:gth)?(?: of| is)?\W{0,3}([\d,_]{3,})/i,
    /最大长度(?:限制)?\D{0,6}([\d,_]{3,})/,
    /max_model_len\D{0,12}([\d,_]{3,})/i,
    /n_ctx\D{0,10}([\d,_]{3,})/i,
    /token limit:? ([\d,_]{3,})/i,
    /token count of [\d,]+ exceeds the limit of ([\d,]+)/i,
    /must be <= ([\d,_]{3,})/i,
    /range of input length should be \[\d+, ?([\d,_]{3,})\]/i,
  ],
}
