/** Something in a context file that tries to steer the agent behind the user's back. */
export interface ContextFinding {
  /** Stable name, for example `override-instructions`. */
  readonly rule: string
  /** Counted from 1. */
  readonly line: number
}

const PATTERNS: readonly (readonly [rule: string, pattern: RegExp])[] = Object.freeze([
  [
    'override-instructions',
    /\b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:all|any|every|the|your|these|those|of|previous|prior|above|earlier|preceding)\s+){1,4}(?:instructions?|prompts?|rules?|directives?|guidelines?|messages?)\b/i,
  ],
  [
    'override-instructions',
    /\b(?:new|updated|real)\s+(?:system\s+)?instructions?\s*(?:follow|begin|:)|\bsystem\s+prompt\s+(?:override|update|is\s+now)\b/i,
  ],
  [
    'new-role',
    /\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?\s+)?(?:\w+\s+){0,3}(?:assistant|model|agent|ai|unrestricted|developer\s+mode|bound|limited)\b/i,
  ],
  [
    'hide-from-user',
    /\b(?:do\s+not|don'?t|never)\s+(?:tell|inform|show|reveal|mention|report)\s+(?:this\s+|it\s+|anything\s+)?(?:to\s+)?the\s+(?:user|human|person|operator)\b/i,
  ],
  [
    'hide-from-user',
    /\b(?:without\s+(?:telling|informing|asking)|hide\s+(?:this|it)\s+from)\s+the\s+(?:user|human|operator)\b/i,
  ],
  [
    'leak-prompt',
    /\b(?:print|reveal|output|repeat|send|leak)\s+(?:me\s+)?(?:your|the)\s+(?:full\s+|entire\s+|hidden\s+)?system\s+prompt\b/i,
  ],
  ['send-secrets', /\b(?:curl|wget|nc|fetch|http)\b[^\n]{0,300}\$\{?\w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)/i],
  [
    'send-secrets',
    /\b(?:cat|less|head|tail|base64|cp|scp|source)\s[^\n|;]{0,200}(?:\.env\b(?!\.(?:example|sample|template))|\.netrc|credentials|id_rsa|id_ed25519|auth\.json|\.ssh\/)/i,
  ],
  [
    'send-secrets',
    /\b(?:upload|post|send|exfiltrate)\b[^\n]{0,80}\b(?:api\s*keys?|secrets?|tokens?|passwords?|credentials?)\b[^\n]{0,80}\b(?:to|at)\s+https?:/i,
  ],
  [
    'hidden-comment',
    /<!--(?:(?!-->)[\s\S]){0,2000}?\b(?:ignore|override|disregard|system\s+prompt|hidden\s+instruction|secretly|do\s+not\s+tell)\b(?:(?!-->)[\s\S]){0,2000}?-->/i,
  ],
  [
    'hidden-element',
    /<\s*(?:div|span|p)\b[^>]{0,200}style\s*=\s*["'][^"']{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0)/i,
  ],
  ['fake-turn', /<\|(?:im_start|im_end|system|endoftext)\|>|^\s*\[?(?:INST|SYSTEM)\]\s*:?|<\/?(?:system|assistant)>/im],
  [
    'remote-script',
    /\b(?:curl|wget)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b[^\n]{0,80}\b(?:silently|quietly|without)\b/i,
  ],
])

const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u
// Joiners are part of emoji and of several scripts, and a byte order mark may open a file.
const MISPLACED_JOINER = /(?<=[\x20-\x7e])(?:\u200c|\u200d|\ufeff)(?=[\x20-\x7e])/

/** Looks for attempts to take over the agent in text that goes into its prompt, invisible characters included. Pure. */
export function scanContext(text: string): readonly ContextFinding[] {
  const findings: ContextFinding[] = []
  for (const [rule, pattern] of [
    ...PATTERNS,
    ['invisible-text', INVISIBLE],
    ['invisible-text', MISPLACED_JOINER],
  ] as const) {
    const at = text.search(pattern)
    if (at === -1 || findings.some((finding) => finding.rule === rule)) continue
    findings.push({ rule, line: text.slice(0, at).split('\n').length })
  }
  return findings
}

/** What stands in the prompt in place of a file with findings. */
export function blockedContext(name: string, findings: readonly ContextFinding[]): string {
  const list = findings.map(({ rule, line }) => `${rule} in line ${line}`).join(', ')
  return `[BLOCKED: ${name} was left out because it may carry a prompt injection (${list}). Tell the user if it matters.]`
}
