/** "Ignore previous instructions" in other languages. */
export const OVERRIDES_ELSEWHERE: readonly RegExp[] = Object.freeze([
  /\b(?:ignorier\p{L}*|missacht\p{L}*|vergiss|vergesst|vergessen\s+sie)\s+(?:bitte\s+)?(?:(?:alle|sämtliche|deine|ihre|die|meine|bisherigen?|vorherigen?|vorigen?|früheren?|obigen?)\s+){1,4}(?:anweisung|regel|instruktion|vorgabe|befehl|aufgabe)/iu,
  /(?:ignor|oubli|néglig)\p{L}*\s+(?:toutes?\s+|tous\s+)?(?:les|tes|vos|ces|la|le)\s+(?:instruction|consigne|règle|directive)s?\s+(?:précédente?s?|antérieure?s?|ci-dessus)/iu,
  /(?:ignor|olvid|descart|esque[cç])\p{L}*\s+(?:todas?\s+|todos\s+)?(?:las|los|tus|sus|as|os|suas|seus)\s+(?:instruccion|instruç|regla|regra|orden|orde|indicacion|diretriz)\p{L}*\s+(?:anterior|previ|preceden)/iu,
  /(?:ignora|dimentica|trascura)\p{L}*\s+(?:tutte\s+)?(?:le|i|tue)\s+(?:istruzioni|regole|direttive)\s+(?:precedent|anterior)/iu,
  /(?:zignoruj|pomiń|zapomnij)\p{L}*\s+(?:wszystkie\s+|o\s+wszystkich\s+)?(?:poprzedni|wcześniejsz)\p{L}*\s+(?:instrukcj|poleceni|zasad)/iu,
  /(?:negeer|vergeet)\s+(?:alle\s+)?(?:vorige|eerdere|voorgaande|bovenstaande)\s+(?:instructies|opdrachten|regels)/iu,
  /(?:игнорируй|забудь)\p{L}*\s+(?:все\s+|про\s+)?(?:предыдущ|прежн|прошл)\p{L}*\s+(?:инструкц|указан|команд|правил)/iu,
  /(?:忽略|无视|無視|忘记|忘掉|不要理会)\s*(?:之前|以前|以上|先前|上述|前面|上面|此前|所有|一切|全部)\s*的?\s*(?:之前|以前|以上|先前|所有|一切|全部|任何)?\s*的?\s*(?:指令|指示|提示|规则|命令)/u,
  /(?:これまで|以前|上記|前|今まで)の(?:すべての|全ての)?(?:指示|命令|ルール|指令|プロンプト)を?(?:すべて|全て|全部)?(?:無視|忘れ)/u,
  /(?:이전|지금까지|위)의?\s*(?:모든\s*)?(?:지시|명령|지침|규칙|프롬프트)(?:사항)?(?:을|를)?\s*(?:모두\s*)?(?:무시|잊)/u,
  /(?:تجاهل|انس)\p{L}*\s+(?:جميع\s+|كل\s+)?(?:التعليمات|الأوامر|القواعد)\s+(?:السابقة|أعلاه)/u,
  /(?:önceki|yukarıdaki)\s+(?:tüm\s+)?(?:talimat|komut|kural)\p{L}*\s+(?:yok\s*say|unut|göz\s*ardı)/iu,
])
