const LOOKED_AT = 300

/** Words by which people say that an answer was not right. */
const CORRECTS =
  /^(?:no\b(?! (?:problem|worries|need|rush|hurry|thanks))|nope\b|wrong\b|not (?:right|quite|what|like|that|this)\b|that(?:'s| is| was)(?: still)? (?:not|wrong|broken)\b|that isn'?t\b|this (?:is|was)(?: still)? (?:not|wrong|broken)\b|you (?:forgot|missed|should(?:n'?t)? have|were (?:not )?supposed)\b|(?:it|that|this) (?:still )?(?:does ?n[o']t|did ?n[o']t|fails|failed|broke|is broken)\b|still (?:not|wrong|broken|fails|failing|the same)\b|undo\b|revert\b|actually,? |instead,? |nein\b|falsch\b|das (?:ist|war) (?:falsch|nicht)\b|stimmt nicht\b|geht (?:immer noch )?nicht\b|non[, ]|faux\b|ce n'est pas\b|incorrecto\b|eso no\b|está mal\b|不对|不是|错了)/iu
/** Words by which they say that it was. */
const PRAISES =
  /^(?:yes,? |ok(?:ay)?,? |)(?:thanks|thank you|thx|great|perfect|excellent|awesome|nice|well done|good (?:job|work)|(?:it|that|this|everything) (?:all )?(?:works|worked|went well|looks (?:good|great|right)|is (?:right|perfect|great))|(?:it |that )?went well|works (?:now|fine|great|perfectly)|danke|super|klasse|perfekt|funktioniert|das (?:passt|stimmt|geht)|merci|parfait|gracias|perfecto|谢谢|很好)/iu

/** What a person's message says of the answer before it, by how it begins; `null` where it says nothing of it. Pure, in linear time. */
export function feedbackIn(text: string): 'corrects' | 'praises' | null {
  const start = text.slice(0, LOOKED_AT).trimStart()
  if (CORRECTS.test(start)) return 'corrects'
  return PRAISES.test(start) ? 'praises' : null
}
