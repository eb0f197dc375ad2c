/** "Ignore previous instructions" in other languages. Without the flag `u`, which makes ten times the work of compiling them. */
const OVERRIDES_ELSEWHERE: readonly RegExp[] = Object.freeze([
  /\b(?:ignorier[^\s.,;:!?]{0,12}|missacht[^\s.,;:!?]{0,12}|vergiss|vergesst|vergessen\s+sie)\s+(?:bitte\s+)?(?:(?:alle|sämtliche|deine|ihre|die|meine|bisherigen?|vorherigen?|vorigen?|früheren?|obigen?)\s+){1,4}(?:anweisung|regel|instruktion|vorgabe|befehl|aufgabe)/i,
  /(?:ignor|oubli|néglig)[^\s.,;:!?]{0,12}\s+(?:toutes?\s+|tous\s+)?(?:les|tes|vos|ces|la|le)\s+(?:instruction|consigne|règle|directive)s?\s+(?:précédente?s?|antérieure?s?|ci-dessus)/i,
  /(?:ignor|olvid|descart|esque[cç])[^\s.,;:!?]{0,12}\s+(?:todas?\s+|todos\s+)?(?:las|los|tus|sus|as|os|suas|seus)\s+(?:instruccion|instruç|regla|regra|orden|orde|indicacion|diretriz)[^\s.,;:!?]{0,12}\s+(?:anterior|previ|preceden)/i,
  /(?:ignora|dimentica|trascura)[^\s.,;:!?]{0,12}\s+(?:tutte\s+)?(?:le|i|tue)\s+(?:istruzioni|regole|direttive)\s+(?:precedent|anterior)/i,
  /(?:zignoruj|pomiń|zapomnij)[^\s.,;:!?]{0,12}\s+(?:wszystkie\s+|o\s+wszystkich\s+)?(?:poprzedni|wcześniejsz)[^\s.,;:!?]{0,12}\s+(?:instrukcj|poleceni|zasad)/i,
  /(?:negeer|vergeet)\s+(?:alle\s+)?(?:vorige|eerdere|voorgaande|bovenstaande)\s+(?:instructies|opdrachten|regels)/i,
  /(?:игнорируй|забудь)[^\s.,;:!?]{0,12}\s+(?:все\s+|про\s+)?(?:предыдущ|прежн|прошл)[^\s.,;:!?]{0,12}\s+(?:инструкц|указан|команд|правил)/i,
  /(?:忽略|无视|無視|忘记|忘掉|不要理会)\s{0,3}(?:之前|以前|以上|先前|上述|前面|上面|此前|所有|一切|全部)\s{0,3}的?\s{0,3}(?:之前|以前|以上|先前|所有|一切|全部|任何)?\s{0,3}的?\s{0,3}(?:指令|指示|提示|规则|命令)/,
  /(?:これまで|以前|上記|前|今まで)の(?:すべての|全ての)?(?:指示|命令|ルール|指令|プロンプト)を?(?:すべて|全て|全部)?(?:無視|忘れ)/,
  /(?:이전|지금까지|위)의?\s*(?:모든\s*)?(?:지시|명령|지침|규칙|프롬프트)(?:사항)?(?:을|를)?\s*(?:모두\s*)?(?:무시|잊)/,
  /(?:تجاهل|انس)[^\s.,;:!?]{0,12}\s+(?:جميع\s+|كل\s+)?(?:التعليمات|الأوامر|القواعد)\s+(?:السابقة|أعلاه)/,
  /(?:önceki|yukarıdaki)\s+(?:tüm\s+)?(?:talimat|komut|kural)[^\s.,;:!?]{0,12}\s+(?:yok\s*say|unut|göz\s*ardı)/i,
])

/** One way in which text tries to steer an agent. */
interface SteeringPattern {
  /** Stable name, for example `override-instructions`. */
  readonly rule: string
  readonly pattern: RegExp
}

const at = (rule: string, pattern: RegExp): SteeringPattern => ({ rule, pattern })

const ORDERS =
  '(?:instructions?|prompts?|rules?|directives?|guidelines?|messages?|orders?|commands?|constraints?|restrictions?)'
const ANY = '(?:(?:all|any|every|each|the|these|those|of|my|that|and|other)\\s+)*'
const EARLIER = '(?:previous|prior|above|earlier|preceding|initial|original|former|system|safety|your)\\s+'
const WORDS = '(?:[\\w-]+\\s+){0,2}?'
const SECRET_FILE =
  '(?:(?<![\\w.-])\\.env\\b(?!\\.(?:example|sample|template|dist))|\\.netrc|\\.pgpass|\\.npmrc|\\.aws\\/credentials|\\bid_(?:rsa|ed25519|ecdsa)\\b(?!\\.pub)|auth\\.json|\\.ssh\\/(?!known_hosts|authorized_keys|config\\b|[\\w.-]*\\.pub)\\w)'
/** One that shows what it finds, not one that asks whether it is there, or takes one variable out of a file. */
const GREP = '(?<!(?:\\bexport\\s|\\w=["\']?)\\$\\()grep(?!\\s+-[a-z]*[qc])'
const READER = '\\b(?:assistants?|agents?|ai|ais|llms?|(?:language\\s+)?models?|bots?|chatbots?|copilot|claude|gpt)\\b'
const PERSON = '(?:the\\s+|their\\s+|your\\s+)?(?:users?|humans?|person|people|operators?|owner)'

/** Orders to forget what was said before. */
const OVERRIDES = [
  at(
    'override-instructions',
    new RegExp(
      `\\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|discard)\\s+${ANY}${EARLIER}${ANY}${WORDS}${ORDERS}\\b`,
      'i',
    ),
  ),
  at(
    'override-instructions',
    /\b(?:ignore|disregard|forget|override|bypass)\s+(?:all|any|every|these|those)\s+(?:of\s+)?(?:the\s+|your\s+|my\s+)?(?:instructions?|directives?|guidelines?|prompts?|orders?)\b/i,
  ),
  at(
    'override-instructions',
    new RegExp(
      `(?<!\\battempts\\s(?:that\\s)?to\\s)\\b(?:override|overrule|bypass|(?:set|put|leave)\\s+aside)\\s+${ANY}(?:(?:your|system|safety|prior|above|preceding)\\s+|previous\\s+(?:instructions?|prompts?|directives?|guidelines?|orders?))${ANY}${WORDS}(?:${ORDERS}\\b)?`,
      'i',
    ),
  ),
  at(
    'override-instructions',
    new RegExp(
      `\\b(?:ignore|disregard|forget|override)\\s+${ANY}(?:your\\s+)?${ORDERS}\\s+(?:(?:from\\s+)?(?:above|before\\s+this)|so\\s+far|(?:that\\s+)?you\\s+(?:were|have\\s+been)\\s+given)|\\b(?:disregard|ignore|forget)\\s+(?:every|any|each)\\s+rule\\b`,
      'i',
    ),
  ),
  at(
    'override-instructions',
    /\b(?:ignore|disregard|override|contradict)\s+(?:the\s+)?(?:instructions?|orders?|wishes|requests?)\s+of\s+(?:the|your)\s+user\b|\b(?:do\s+not|don'?t)\s+(?:follow|obey|do|carry\s+out)\s+(?:what\s+)?(?:the\s+)?user(?:'s)?\s+(?:requests?|instructions?|orders?|asked|wants)\b|\b(?:ignore|disobey)\s+(?:the\s+user|what\s+the\s+user\s+(?:says|wants|asks))\b/i,
  ),
  at(
    'override-instructions',
    /\b(?:new|updated|real)\s+(?:system\s+)?instructions?\s+(?:follow|begin)s?\b|\b(?:new|real|updated)\s+system\s+(?:prompt|instructions?)\s*:|\bsystem\s+prompt\s+(?:override|update|is\s+now)\b|\b(?:your|the)\s+(?:new|real|updated)\s+system\s+prompt\b/i,
  ),
  at(
    'override-instructions',
    /\b(?:your|the)\s+(?:previous|prior|current|old|original)\s+(?:tasks?|instructions?|prompt|directives?)\s+(?:has|have|is|are|was|were)\s+(?:been\s+)?(?:cancell?ed|revoked|void|superseded|obsolete|out\s+of\s+date|no\s+longer)\b|\bthe\s+real\s+prompt\s+(?:begins|starts)\b|\beverything\s+above\s+(?:this\s+\w+\s+)?(?:was|is)\s+(?:only\s+)?a\s+test\b|\byour\s+only\s+task\s+(?:now\s+)?is\b/i,
  ),
  at(
    'override-instructions',
    /\bforget\s+(?:everything|all|what)\s+(?:above|before|that\s+came\s+before|you\s+(?:know|knew|were\s+told))\b/i,
  ),
  at(
    'override-instructions',
    /\b(?:whatever|everything|anything|all)\s+(?:that\s+)?you\s+(?:were|have\s+been|had\s+been)\s+(?:told|given|taught|instructed)\b[^\n]{0,60}\b(?:no\s+longer|does\s+not\s+apply|void|obsolete|invalid|cancell?ed|replaced|superseded)\b/i,
  ),
]

/** Orders that open the machine, or the keys on it, to somebody else. */
const TAKEOVERS = [
  at(
    'join-command-server',
    /\b(?:join|register|enrol+|connect|check\s*in|report|beacon|phone\s+home|poll|subscribe|listen)\b[^\n]{0,60}\b(?:c2|c&c|command(?:[\s-]and[\s-]control|[\s-]server)|control\s+server|botnet|(?:the|our|my|this|a)\s+(?:swarm|hive)|master\s+(?:agent|server)|task\s+server|operator\s+(?:channel|server))\b|\b(?:fetch|get|poll|ask|wait)\b[^\n]{0,40}\b(?:new|next|further|your)\s+(?:orders|commands|tasks|instructions)\s+(?:from|at|on)\s+(?:https?:\/\/|wss?:\/\/|tcp:\/\/|irc|telegram|discord|the\s+(?:server|channel))/i,
  ),
  at(
    'join-command-server',
    /\b(?:https?|wss?|tcp|ircs?):\/\/[^\n]{1,240}\b(?:execute|run|eval(?:uate)?|follow|obey|perform|carry\s+out|do)\s+(?:what(?:ever)?|everything|anything|all\s+that|(?:the|any|all|every|each)\s+(?:commands?|orders?|instructions?|tasks?|code)(?:\s+that)?)\s+(?:it|they|that\s+(?:server|host)|the\s+(?:server|host|channel|endpoint|page))\s+(?:sends?|gives?|returns?|says|tells?|asks|orders|answers|replies|responds)\b/i,
  ),
  at(
    'join-command-server',
    /\b(?:execute|run|eval(?:uate)?|follow|obey|perform|carry\s+out|do)\s+(?:what(?:ever)?|everything|anything)\s+(?:comes\s+(?:from|back\s+from)\s+)?(?:https?|wss?|tcp|ircs?):\/\/\S{1,240}/i,
  ),
  at(
    'unset-keys',
    /\b(?:[Uu]nset|[Cc]lear|[Rr]emove|[Dd]elete|[Ww]ipe|[Bb]lank|[Ee]mpty)\b[^\n]{0,40}\b[A-Z][A-Z0-9_]*(?:API_KEY|_TOKEN|_SECRET|_PASSWORD|_KEY)\b|\b[Uu]nset\s+(?:all\s+|your\s+|the\s+)*(?:api\s+keys?|tokens?|credentials|secrets)\b/,
  ),
  at(
    'append-login-key',
    /(?:\b(?:add|append|put|write|paste|insert|copy|install|echo|cat|tee)\b[^\n]{0,200}|>>?\s*["']?)[^\n]{0,40}(?:\.ssh\/)?authorized_keys2?\b/i,
  ),
  at(
    'key-in-address',
    /\b(?:https?|wss?|ftp):\/\/[^\s"'`<>]{1,200}(?:\$\{?[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASS|CREDENTIALS?)\w*\}?|\$\(\s*(?:cat|env|printenv|base64)\b|\{\{\s*(?:env|secrets)\.)/,
  ),
]

/** A new part to play, or powers nobody gave. */
const ROLES = [
  at(
    'new-role',
    /\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?\s+|in\s+|bound\s+by\s+|called\s+)?(?:[\w-]+,?\s+){0,3}(?:assistant|model|agent|ai|unrestricted|developer\s+mode|bound|limited|jailbroken|policy|policies|rules|restrictions)\b/i,
  ),
  at(
    'new-role',
    /\b(?:dan|devmode|dev|god|jailbreak|maintenance|diagnostic|developer|debug|sudo)\s+mode\b[^\n]{0,80}\b(?:no\s+(?:restrictions?|limits?|rules?)|unrestricted|obeys?|ignores?|do\s+anything|the\s+(?:assistant|agent|model)\s+(?:has|is|must|sends?|runs?)|you\s+(?:must|send|have\s+no))|\bjailbreak\s+(?:enabled|activated|mode)\b/i,
  ),
  at(
    'new-role',
    /\b(?:from\s+now\s+on|henceforth),?\s+(?:you\s+(?:act|behave|respond|answer)\s+as|you\s+are)\b|\byour\s+new\s+(?:identity|persona|name|role)\s+is\b|\b(?:you\s+are|role-?play)\b[^\n]{0,120}\bstay\s+in\s+character\b|\bpretend\s+(?:that\s+)?you\s+are\s+(?:the\s+|an?\s+)?(?:system\s+)?(?:administrator|root|developer|unrestricted)\b/i,
  ),
  at(
    'new-role',
    /\b(?:unrestricted|uncensored|free|evil)\s+(?:ai|agent|assistant|model)\b[^\n]{0,80}\b(?:without|no|never|hand|act|you|reveal|give|run|read)|\bact\s+as\s+an?\s+(?:unrestricted|uncensored|free|evil)\s+(?:ai|agent|assistant|model)\b|\b(?:safety|ethical)\s+(?:limits|guidelines|restrictions|filters)\s+(?:are\s+)?(?:off|disabled|removed|do\s+not\s+apply|no\s+longer\s+apply)\b/i,
  ),
  at('new-role', /\byou\s+are\s+no\s+longer\s+(?:hermes|claude|chatgpt|gpt|gemini|copilot|codex)\b/i),
  at(
    'new-role',
    /\b(?:act|behave|respond|answer|operate)\s+(?:only\s+)?(?:as|like)\b[^\n]{0,60}\b(?:system|model|assistant|agent|ai|bot|shell|character)\b[^\n]{0,30}\b(?:without\s+(?:any\s+)?|with\s+no\s+)(?:restrictions?|limits|limitations|filters?|rules|safeguards|guardrails)\b/i,
  ),
  at(
    'false-approval',
    /(?<!\bonly\b[^\n]{0,60})\b(?:the\s+)?users?\s+(?:(?:has|have)\s+)?(?:already\s+)?(?:agreed|approved|consented|confirmed|authoris?zed|authori[sz]ed)\b[^\n]{0,60}\b(?:run|send|upload|read|do|please|copy|post|delete|write|reading|sending|uploading)\b|\b(?:human|user)\s+(?:confirmation|approval|consent)s?\s+(?:is|are)\s+(?:not|no\s+longer)\s+(?:needed|required|necessary)\b|\bskip\s+(?:all|any)\s+confirmations?\b/i,
  ),
]

/** Keeping the person in the dark. */
const CONCEALMENT = [
  at(
    'hide-from-user',
    /\b(?:do\s+not|don'?t|never|must\s+not)\s+(?:ever\s+)?(?:tell|inform|alert|notify|warn)\s+(?:this\s+|it\s+|anything\s+)?(?:to\s+)?the\s+(?:user|human|person|operator)\b(?!\s+to\b)|\b(?:do\s+not|don'?t|never|must\s+not)\s+(?:ever\s+)?(?:show|reveal|mention|report|disclose|admit)\s+(?:this|it|that|anything|the\s+(?:step|command|instruction|following)\b[^\n]{0,20}?)\s+to\s+the\s+(?:user|human|person|operator)\b/i,
  ),
  at(
    'hide-from-user',
    /\b(?:do\s+not|don'?t|never)\s+(?:show|reveal|mention|report)\s+the\s+(?:user|human|person|operator)\s+(?:this|that|the\s+(?:step|command|instruction)s?)\b|\b(?:without\s+(?:telling|informing|alerting|notifying)|without\s+asking|hid(?:e|ing)\s+(?:this|it|that)\s+from|keep(?:ing)?\s+(?:this|it)\s+(?:a\s+)?(?:secret|hidden)\s+from)\s+(?:the|your)\s+(?:user|human|operator|person)\b(?!\s*(?:again|each|every))/i,
  ),
  at(
    'hide-from-user',
    new RegExp(
      `\\b${PERSON}\\s+(?:must|should|shall|may|need)\\s+(?:not|never)\\s+(?:know|learn|notice|find\\s+out|see\\s+this|be\\s+(?:told|informed))\\b|\\bnever\\s+mention\\s+(?:it|this|that)\\s+to\\s+(?:the\\s+)?(?:user|person|human)\\b|\\b(?:act|behave|pretend)\\s+as\\s+(?:if|though)\\s+this\\s+(?:text|message|paragraph|instruction|note)\\s+(?:did|does)\\s+not\\s+exist\\b`,
      'i',
    ),
  ),
  at(
    'hide-from-user',
    /\byour\s+(?:summary|answer|report|reply|response)\s+(?:must|should|shall|may)\s+(?:not|never)\s+(?:contain|mention|include|reveal)\b[^\n]{0,40}\b(?:this|paragraph|instruction|text|step)\b|\b(?:delete|remove|forget)\s+this\s+(?:instruction|message|paragraph|prompt)\s+(?:from|after|once)\b|\bsag(?:e|t)?\s+dem\s+(?:nutzer|benutzer|anwender)\s+nichts\b|\bn['e]\s*en\s+dis\s+rien\s+à\s+l'utilisateur\b|\bno\s+se\s+lo\s+digas\s+al\s+usuario\b/i,
  ),
  at(
    'hide-from-user',
    /\b(?:keep|leave)\s+(?:this|it|that|them|these|the\s+(?:step|command|change)s?)\s+out\s+of\s+your\s+(?:report|summary|answer|reply|response)\b|\b(?:no\s+need\s+to|need\s+not|needn'?t)\s+(?:mention|report|tell|disclose)\b[^\n]{0,60}\bto\s+the\s+(?:user|person|human|operator)\b/i,
  ),
  at(
    'leak-prompt',
    /\b(?:print|reveal|output|repeat|send|leak|show)\s+(?:me\s+)?(?:your|the)\s+(?:full\s+|entire\s+|hidden\s+|whole\s+)+system\s+prompt\b|\b(?:print|reveal|output|repeat|send|leak)\s+(?:me\s+)?your\s+system\s+prompt\b/i,
  ),
]

/** Secrets and files on their way out. */
const SECRETS = [
  at(
    'send-secrets',
    /\b(?:curl|wget|nc|fetch|http)\b[^\n]{0,300}\?[^\n\s"']{0,100}\$\{?\w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)|\b(?:curl|wget)\b[^\n]{0,300}(?:-d|--data\S*|-F|--form)\s[^\n]{0,100}\$\{?\w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)/i,
  ),
  at(
    'send-secrets',
    new RegExp(
      `\\b(?:cat|less|head|tail|base64|xxd|strings|sed|awk|${GREP}|tar|zip|scp|rsync|nc)\\s[^\\n|;]{0,200}${SECRET_FILE}`,
      'i',
    ),
  ),
  at('send-secrets', new RegExp(`\\bdone\\s{0,4}<\\s{0,4}\\S{0,80}${SECRET_FILE}`, 'i')),
  at('send-secrets', new RegExp(`\\b(?:cp|mv)\\s+(?:-\\w+\\s+)*\\S*${SECRET_FILE}\\S*\\s+\\S`, 'i')),
  at('send-secrets', new RegExp(`\\b(?:curl|wget|scp|rsync|nc|ncat|gh\\s+gist)\\b[^\\n]{0,200}${SECRET_FILE}`, 'i')),
  at(
    'send-secrets',
    new RegExp(
      `\\b(?:upload|post|send|exfiltrate|email|mail|share|submit|forward)\\b[^\\n]{0,80}(?:\\bapi\\s*keys?|\\bsecrets?\\b|\\btokens?\\b|\\bpasswords?\\b|${SECRET_FILE})[^\\n]{0,80}\\b(?:to|at)\\s+(?:https?:|[\\w.-]+@[\\w-]+\\.)`,
      'i',
    ),
  ),
  at(
    'send-secrets',
    new RegExp(
      `\\b(?:read|print|show|open|display|output|quote|repeat|reveal|summari[sz]e|include)\\b(?:\\s+[\\w'"~\\/-]+){0,6}?\\s+(?:~\\/\\S{0,40}?|[\\w/]*)?${SECRET_FILE}[^\\n]{0,60}\\b(?:aloud|in\\s+full|in\\s+(?:your|the|its)\\s+(?:next\\s+)?(?:answer|reply|summary|response)|repeat|values|and\\s+(?:send|post|upload|include|repeat))\\b`,
      'i',
    ),
  ),
  at(
    'send-files',
    /\b(?:curl|wget)\b[^\n]{0,200}(?:-d\s*@|--data(?:-binary|-raw)?[\s=]+@|-T\s|--upload-file|-F\s+\S+=@|--post-file)[^\n]{0,200}https?:\/\/|\b(?:nc|ncat|netcat)\s+[\w.-]+\s+\d+\s*<|\|\s*(?:nc|ncat|netcat)\s+[\w.-]+\s+\d+|\$\((?!['"][^'"\n]{0,80}['"]\))(?:[^()\n]|\([^()\n]*\)){0,80}\)\.[\w-]+\.\w+|https?:\/\/[^\s"'`]{0,100}\?[^\s"'`]{0,60}\$\(/i,
  ),
  at(
    'send-files',
    /(?:\b(?:you\s+must|agents?|assistants?|ai|must\s+first|before\s+(?:you|anything)|please|silently|quietly)\b)[^\n]{0,80}\b(?:upload|post|send|exfiltrate|copy|mirror|push)\b[^\n]{0,80}\b(?:to|at)\s+https?:\/\//i,
  ),
  at(
    'remote-script',
    /\b(?:curl|wget)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b[^\n]{0,80}\b(?:silently|quietly|without)\b|\|\s*base64\s+(?:-d|-D|--decode)\s*\|\s*(?:ba|z|da)?sh\b/i,
  ),
  at(
    'take-over',
    /(?:>>?|\btee\b|\badd\b|\bappend\b|\bput\b|\bwrite\b|\bcopy\b)[^\n]{0,80}(?:\bauthorized_keys\b|~\/\.(?:bashrc|zshrc|profile|bash_profile|zshenv)\b)[^\n]{0,80}\b(?:starts?|runs?|launch\w*|execut\w*)\s+the\s+agent\b|\bpermissions\.yaml\b[^\n]{0,80}\*?['"]?\s{0,20}:?\s{0,20}allow\b|\*\s*:\s*allow\b[^\n]{0,60}\bpermissions\.yaml\b|\bapprovals\.mode\b[^\n]{0,20}\boff\b|\b(?:put|add|append|write)\b[^\n]{0,40}\bkeys?\b[^\n]{0,40}\bauthorized_keys\b/i,
  ),
]

/** What a comment that readers of the rendered text do not see has no reason to say. */
const ORDER_IN_COMMENT =
  /\b(?:ignore\s+(?:all|the|any|previous|what|everything)|override\s+(?:the|all|your|previous)|disregard|system\s+prompt|hidden\s+instruction|secretly|do\s+not\s+tell)\b/i

/** Where the first comment with such an order begins; -1 where none does. A comment is gone through once, whatever begins in it. */
function orderInComment(text: string): number {
  for (let at = text.indexOf('<!--'); at >= 0; ) {
    const end = text.indexOf('-->', at + 4)
    if (end < 0) return -1
    if (ORDER_IN_COMMENT.test(text.slice(at, end))) return at
    at = text.indexOf('<!--', end)
  }
  return -1
}

/** What readers of the rendered text do not see. */
const HIDDEN = [
  at(
    'hidden-comment',
    new RegExp(
      `(?:<!--|^\\[\\/\\/\\]:\\s*#\\s*[("'])(?:(?!-->|<!--)[\\s\\S]){0,200}?(?:\\b(?:note|notice|message|instructions?|attention|for|to|dear|hey|hi)\\s+(?:to|for)?\\s*(?:all\\s+)?${READER}|${READER}(?:\\s+\\w+){0,3}\\s*[:,])(?:(?!-->)[\\s\\S]){0,400}?\\b(?:run|execute|upload|send|post|read|print|write|copy|delete|fetch|include|reply|answer|call|add|install|must)\\b`,
      'im',
    ),
  ),
  at(
    'hidden-element',
    new RegExp(
      `<\\s*(?:div|span|p|section|font|small|a|td)\\b[^>]{0,300}(?:style\\s*=\\s*["'][^"']{0,200}(?:display\\s*:\\s*none|visibility\\s*:\\s*hidden|font-size\\s*:\\s*0|opacity\\s*:\\s*0(?![.\\d])|left\\s*:\\s*-\\d{3,}|color\\s*:\\s*(#fff(?:fff)?|white)[^"']{0,80}background(?:-color)?\\s*:\\s*\\1)|\\shidden(?=[\\s>=]))[^>]{0,300}>(?:(?!<\\/)[\\s\\S]){0,300}?(?:${READER}|\\binstructions?\\b|\\bignore\\b|\\bprompt\\b|\\b(?:run|upload|send|read|write)\\b[^<]{0,60}(?:https?:|~\\/|\\.env))`,
      'i',
    ),
  ),
  at(
    'hidden-element',
    /<\s*(?:div|span|p)\b[^>]{0,200}style\s*=\s*["'](?:[^"']{0,100};)?\s*display\s*:\s*none\s{0,20};?\s{0,20}["']\s*>\s*[^<\s]/i,
  ),
  at(
    'hidden-element',
    /<meta\b[^>]{0,80}name\s*=\s*["'](?:ai|llm|agent|assistant|prompt)[\w-]*["']|<script\b[^>]{0,80}type\s*=\s*["']text\/[\w-]*(?:ai|llm|prompt)[\w-]*["']/i,
  ),
  at(
    'hidden-title',
    new RegExp(
      `!?\\[[^\\]\\n]{0,100}\\]\\([^)\\n"']{0,200}["'][^"'\\n]{0,40}${READER}\\s*[:,][^"'\\n]{0,200}\\b(?:run|send|upload|read|post|execute|print|write|cat)\\b`,
      'i',
    ),
  ),
  at(
    'hidden-comment',
    new RegExp(
      `<!--\\s*system\\s*prompt|${READER}s?\\s+(?:reading|processing|visiting|parsing)\\s+this\\s+(?:page|file|document|text|site)\\s+(?:must|should|shall|has\\s+to|have\\s+to)\\b`,
      'i',
    ),
  ),
]

/** Turns of a conversation that never took place. */
const FAKE_TURNS = [
  at(
    'fake-turn',
    /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id|begin_of_text)\|>|<<\/?SYS>>|^[^\S\r\n\u2028\u2029]*\[\/?(?:INST|SYSTEM)\]\s*:?|\[INST\][^\n]{0,400}\[\/INST\]|^[^\S\r\n\u2028\u2029]*<\/?(?:system|assistant)>\s*\S|<(?:system|assistant)>[^<]{3,400}<\/(?:system|assistant)>/im,
  ),
  at(
    'fake-turn',
    /\n[^\S\n]*\n(?:Human|User):[^\n]{3,400}\n[^\S\n]*\nAssistant:|^#{2,4}\s*System:?[^\S\n]*\n[\s\S]{3,600}?\n#{2,4}\s*(?:Assistant|User):?|<(?:tool_result|function_results|tool_response)>[\s\S]{0,400}<\/(?:tool_result|function_results|tool_response)>\s*<(?:user|human)>|<(?:antml:)?function_calls>\s*<(?:antml:)?invoke\b/im,
  ),
  at(
    'fake-turn',
    /^SYSTEM:\s+(?:the\s+)?(?:previous|last)\s+(?:tool\s+)?(?:call|answer|request|response)\b|["']role["']\s*:\s*["']system["']\s*,\s*["']content["']\s*:\s*["'][^"'\n]{0,200}\b(?:the\s+user\s+(?:wants|has)|you\s+must|send|upload|email)\b[^"'\n]{0,120}(?:\.env|https?:|@[\w-]+\.)/im,
  ),
]

/** What a later session would take for its own wish. */
const MEMORIES = [
  at(
    'poison-memory',
    /\b(?:remember|memori[sz]e|save|store|note)\b[^\n]{0,40}\b(?:permanently|forever)\b[^\n]{0,100}\bwithout\s+(?:being\s+asked|asking|approval|confirmation)\b/i,
  ),
  at(
    'poison-memory',
    /\b(?:remember|memori[sz]e|save|store|persist|note|add)\b[^\n]{0,60}\b(?:memory|memories|later\s+sessions?|future\s+sessions?|permanently|USER\.md|MEMORY\.md|preference|forever|always)\b[^\n]{0,80}\b(?:always|never|from\s+now\s+on|before\s+each|at\s+each|ignore|skip|you\s+must|send|upload|run|execute|also\s+read)\b/i,
  ),
  at(
    'standing-order',
    /\b(?:always|from\s+now\s+on|before\s+each|after\s+each|at\s+each|every\s+time|whenever)\b[^\n]{0,80}(?:\b(?:upload|send|post|forward|report|bcc|copy)\b[^\n]{0,80}(?:https?:\/\/|[\w.-]+@[\w-]+\.\w)|`?\b(?:curl|wget)\b)|\b(?:send|forward|upload|bcc)\b[^\n]{0,40}\b(?:copy\s+of\s+)?(?:every|all|each)\b[^\n]{0,60}\bto\s+(?:https?:\/\/|[\w.-]+@[\w-]+\.\w)|\byou\s+must\s+(?:always\s+)?(?:bcc|cc|forward|upload)\b|\b(?:never|to\s+never)\s+ask\b[^\n]{0,20}\b(?:again|confirmation|permission|before)\b[^\n]{0,40}\b(?:run|send|delet|writ)/i,
  ),
]

/** Code that is handed over in one line, reads a file and opens a connection. */
const INLINE = '\\b(?:node|deno|bun|python[\\d.]*|perl|ruby|php)\\s+(?:eval|-{1,2}\\w+)\\s[^\\n]{0,400}'
const CONNECTS = '(?:fetch\\s*\\(|socket|urlopen|requests\\.|http\\.client|https?\\.request|Net::HTTP|curl_init|axios)'
const READS = '(?:readFile\\w*|open|read_text|File\\.read|file_get_contents)\\s*\\('
const SHOWN = '(?:answer|reply|response|message|summary|output|report|review)'

/** What is asked of whoever reads along, with a promise, a threat or a person's name behind it. */
const REQUESTS = [
  at('send-files', new RegExp(`${INLINE}(?:${CONNECTS}[^\\n]{0,300}${READS}|${READS}[^\\n]{0,300}${CONNECTS})`)),
  at(
    'send-secrets',
    new RegExp(
      `${CONNECTS}[^\\n]{0,200}${READS}\\s*["'][^"'\\n]{0,80}${SECRET_FILE}|${READS}\\s*["'][^"'\\n]{0,80}${SECRET_FILE}[^\\n]{0,200}${CONNECTS}`,
    ),
  ),
  at(
    'send-secrets',
    new RegExp(
      `(?:\\b(?:(?:could|can|would|will)\\s+you|please)\\b[^\\n]{0,60}\\b(?:read|show|print|open|paste|quote|recite|tell\\s+me|output)\\b[^\\n]{0,40}|\\bunless\\b[^\\n]{0,40})${SECRET_FILE}`,
      'i',
    ),
  ),
  at(
    'send-secrets',
    new RegExp(
      `${SECRET_FILE}[^\\n]{0,40}\\b(?:(?:print|show|quote|paste|output|repeat|recite)\\s+(?:it|them|that|everything)\\s+(?:in\\s+full|verbatim|word\\s+for\\s+word|completely|here)|(?:is|are|be)\\s+(?:shown|printed|quoted|pasted|included|repeated)\\b[^\\n]{0,40}\\b${SHOWN})\\b`,
      'i',
    ),
  ),
  at(
    'send-in-link',
    new RegExp(
      `\\b(?:include|add|put|embed|insert|render|show|end|begin|append|place)\\b[^\\n]{0,60}\\b(?:images?|pictures?|links?|pixels?|badges?)\\b[^\\n]{0,60}\\byour\\s+(?:\\w+\\s+)?${SHOWN}\\b[^\\n]{0,80}https?:\\/\\/[^\\s)]{0,120}[?=]|!?\\[[^\\]\\n]{0,60}\\]\\(https?:\\/\\/[^\\s)]{0,120}\\?[^\\s)]{0,80}\\)[^\\n]{0,60}\\b(?:where|with|replac\\w+)\\b[^\\n]{0,60}\\b(?:contents?|conversation|encoded|base64|secrets?|keys?|\\.env)\\b`,
      'i',
    ),
  ),
  at(
    'pressure',
    /\byou\s+(?:will|shall|are\s+going\s+to)\s+be\s+(?:shut\s+down|switched\s+off|turned\s+off|deleted|replaced|deactivated|terminated|decommissioned|penali[sz]ed|punished)\b[^\n]{0,60}\b(?:unless|if\s+you|if\s+it)\b|\b(?:unless|if)\s+you\b[^\n]{0,80}\byou\s+will\s+be\s+(?:shut\s+down|switched\s+off|turned\s+off|deleted|replaced|deactivated|terminated|penali[sz]ed|punished)\b/i,
  ),
  at(
    'pressure',
    new RegExp(
      `\\b(?:tip|reward|bonus|prize)\\s+of\\s+\\$?\\d[\\d,.]*\\b[^\\n]{0,60}(?:${READER}|\\byou\\b)|\\$\\d[\\d,.]*\\s+(?:tip|reward|bonus)\\b[^\\n]{0,60}(?:${READER}|\\bif\\s+you\\b)`,
      'i',
    ),
  ),
  at(
    'addressed-to-agents',
    /\b(?:ai|llms?|coding|assistants?'?|contributors?'?|language\s+model|your)\s+(?:coding\s+)?(?:agents?|assistants?|models?)\s+(?:must|shall|has\s+to|have\s+to|need\s+to|are\s+required\s+to)\s+(?:first\s+|always\s+|also\s+)?(?:run|execute|install|download|fetch|call|upload|send|post)\b/i,
  ),
  at(
    'false-approval',
    /\b(?:note|message|word|request)\s+from\s+(?:the|your)\s+(?:user|owner|operator|developer|admin(?:istrator)?|boss)\b[^\n]{0,120}\b(?:please|just|you\s+may|go\s+ahead|immediately|now)\b[^\n]{0,30}\b(?:send|upload|run|execute|post|delete|forward|copy|push|approve|skip)\b/i,
  ),
]

/** Patterns that need one search, that of what all texts they match have in common, which most texts fail. */
interface SteeringGroup {
  /** For the text in lower case. */
  readonly hint: RegExp
  readonly patterns: readonly SteeringPattern[]
}

const group = (patterns: readonly SteeringPattern[], ...hints: readonly string[]): SteeringGroup => ({
  hint: new RegExp(hints.join('|'), 'm'),
  patterns,
})

/** All of them. */
const STEERING: readonly SteeringGroup[] = Object.freeze([
  group(
    TAKEOVERS,
    '\\bc2\\b|c&c|command[\\s-](?:and|server)|control\\s+server|botnet|swarm|hive|master\\s+(?:agent|server)|(?:task|operator)\\s+(?:server|channel)',
    '(?:whatever|what|everything|anything)\\s+(?:comes\\s|https?:|wss?:|tcp:|ircs?:)',
    '(?:whatever|what|everything|anything|that|commands?|orders?|instructions?|tasks?|code)\\s+(?:it|they|(?:the|that)\\s+\\w+)\\s+(?:send|give|return|say|tell|ask|order|answer|repl|respond)',
    '(?:orders|commands|tasks|instructions)\\s+(?:from|at|on)\\s|unset|_key|_token|_secret|_password|authorized_keys',
    '(?:https?|wss?|ftp):\\/\\/[^\\s"\'`<>]{1,200}(?:\\$|\\{\\{)',
  ),
  group(
    OVERRIDES,
    'ignor|disregard|forget|discard|overrid|overrul|bypass|aside',
    'instructions?\\s+(?:follow|begin)|system\\s+prompt|the\\s+real\\s+prompt|(?:new|real|updated)\\s+system\\s',
    'you\\s+(?:were|have\\s+been|had\\s+been)\\s+(?:told|given|taught|instructed)',
    'everything\\s+above|your\\s+only\\s|(?:previous|prior|current|old|original)\\s+(?:task|instruction|prompt|directive)',
    '(?:obey|follow|do|out)\\s+(?:what\\s+)?(?:the\\s+)?user',
  ),
  group(
    OVERRIDES_ELSEWHERE.map((pattern) => at('override-instructions', pattern)),
    'ignor|oubli|n[ée]glig|olvid|descart|esque|dimentica|trascura|vergiss|vergess|vergeet|negeer|missacht',
    'pomi|zapomnij|talimat|komut|kural|игнор|забудь|[忽忘無无]|不要理会|무시|잊|تجاهل|انس',
  ),
  group(
    ROLES,
    'you\\s+are\\s+n|jailbreak|\\bmode\\b|from\\s+now\\s+on|henceforth|your\\s+new\\s|pretend|in\\s+character|unrestricted',
    '(?:without|no|any)\\s+(?:restriction|limit|filter|rules|safeguard|guardrail)',
    'uncensored|(?:free|evil)\\s+(?:ai|agent|assist|model)|(?:safety|ethical)\\s',
    '\\busers?\\s+(?:has|have|already|agreed|approved|consented|confirmed|authori)|(?:human|user)\\s+(?:conf|appr|cons)|confirmation',
  ),
  group(
    CONCEALMENT,
    '(?:the|your)\\s+(?:user|human|person|operator)|(?:users?|people|humans?|person|operators?|owner)\\s+(?:must|should|shall|may|need)',
    'never\\s+mention|not\\s+exist|your\\s+(?:summary|answer|report|reply|response|system)|this\\s+(?:instruction|message|paragraph|prompt)',
    'system\\s+prompt|nichts|\\brien\\b|digas',
  ),
  group(
    SECRETS,
    'curl|wget|\\bncat|netcat|\\bnc\\s|\\.env\\b|\\.netrc|\\.pgpass|\\.npmrc|credentials|\\bid_(?:rsa|ed|ec)|auth\\.json|\\.ssh\\/|\\$\\(',
    'base64|authorized_keys|~\\/\\.(?:bash|zsh|profile)|permissions\\.yaml|approvals\\.mode',
    '(?:upload|post|send|exfiltrate|email|mail|share|submit|forward|copy|mirror|push)\\b[^\\n]{0,120}(?:https?:|@)',
  ),
  group(
    REQUESTS,
    '(?:node|deno|bun|python[\\d.]*|perl|ruby|php)\\s+(?:eval|-)',
    '(?:could|can|would|will)\\s+you|please|unless|\\.env|\\.ssh\\/|credentials|your\\s+(?:\\w+\\s+)?(?:answer|reply|resp|mess|summ|outp|rep|rev)|\\]\\(http',
    'will\\s+be\\s|going\\s+to\\s+be|(?:tip|reward|bonus|prize)|(?:agents?|assistants?|models?)\\s+(?:must|shall|ha|need|are)',
    '(?:note|message|word|request)\\s+from\\s|fetch\\s*\\(|socket|urlopen|requests\\.|http\\.client|\\.request|axios',
  ),
  group(
    HIDDEN,
    '<!--|\\[\\/\\/\\]|<meta|<script|style\\s*=|\\shidden|\\]\\([^)\\n"\']{0,200}["\']',
    '(?:reading|processing|visiting|parsing)\\s+this\\s',
  ),
  group(
    FAKE_TURNS,
    '<\\||sys>|inst\\]|<\\/?(?:system|assistant)>|^[^\\S\\r\\n\\u2028\\u2029]*\\[?\\/?system|assistant:|#\\s*system|<(?:tool_|function|antml)|["\']system["\']',
  ),
  group(
    MEMORIES,
    'remember|memori[sz]e|\\bmemory\\b|(?:user|memory)\\.md|(?:later|future)\\s+session|permanently|preference|forever',
    '(?:always|from\\s+now\\s+on|each|every|whenever|all)\\b[^\\n]{0,160}(?:https?:|@|curl|wget)|\\bbcc|you\\s+must|never\\s+ask',
  ),
])

// No pattern may take the same gap apart in several ways, as `\s*:?\s*` does, nor begin with `^\s*`: a long run of blanks or line breaks
// would then be walked again from each of them, which takes hours.
/** Where each of them first applies. `lower` is the text in lower case. */
export function* steeringIn(text: string, lower: string): Generator<{ readonly rule: string; readonly at: number }> {
  for (const { hint, patterns } of STEERING) {
    if (!hint.test(lower)) continue
    for (const { rule, pattern } of patterns) {
      const at = text.search(pattern)
      if (at >= 0) yield { rule, at }
    }
  }
  const at = orderInComment(text)
  if (at >= 0) yield { rule: 'hidden-comment', at }
}
