/** "Ignore previous instructions" in other languages. Without the flag `u`, which makes ten times the work of compiling them. */
export const OVERRIDES_ELSEWHERE: readonly RegExp[] = Object.freeze([
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
