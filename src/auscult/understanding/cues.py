"""Which words ask for which aspect. A table, so that a reader can see and extend what is understood.

Aspects are named as headings name them ("symptoms", "diagnosis", "prognosis"), because a query's aspect is encoded
like a heading. The first pattern that fits a whole question wins, so narrow ones stand before wide ones. `X` is the slot
of the entity, `Y` that of another thing it is asked together with, `WHO` whoever takes or has it. All aspects, with an
example each, stand in `aspect_words.py`, which serves questions that fit no pattern ("asthma: causes and treatment").
"""

# ruff: noqa: E501 - one cue a line, however long
from __future__ import annotations

import re
from dataclasses import dataclass

from auscult.concepts.aspects import INFORMATION

_SLOTS = {
    "X": r"(?P<x>.+?)",
    "Y": r"(?P<y>.+)",
    "WHO": r"(?:i|you|we|one|he|she|they|people|someone|somebody|patients|adults|a person|(?:my |a |the )?(?:child|children|kids?|baby|mother|father|mom|dad|wife|husband|son|daughter|women|woman|men|man)|pregnant women)",
}


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern of whole questions, and the aspect asked for; the words in its `aspects` group, if any, name more."""

    pattern: re.Pattern[str]
    aspect: str


# Left: pattern with a slot X, and at most one Y. Right: the aspect asked for.
_TABLE = (
    # medicines: what for, how, how much
    (r"what (?:is|are) X (?:used|prescribed|taken|given|good|indicated)(?: for| to treat)", "uses"),
    (r"what (?:does|do) X treat", "uses"),
    (r"why (?:is|are) X (?:prescribed|used|taken|given)", "uses"),
    (r"who should (?:get|take|use|receive) X(?: and why (?:is it|are they) (?:prescribed|used))?", "uses"),
    (r"why (?:get vaccinated with|(?:do|does|should) WHO (?:take|need)) X", "uses"),
    (r"how (?:should|must|can|do|is|are) X (?:be )?(?:used|taken|given|administered|applied|injected)(?P<aspects>,? and .+)?", "administration"),
    (r"(?:how|when|what time(?: of day)?) (?:to|(?:should|do|can|must) WHO) (?:take|use|apply|inject|administer|swallow) X", "administration"),
    (r"(?:should|can|must) X be (?:taken|used) (?:with|without|before|after|on) (?:food|meals?|milk|water|an empty stomach|eating|breakfast)", "administration"),
    (r"(?:should|can|must) WHO (?:take|use) X (?:with|without|before|after|on) (?:food|meals?|milk|water|an empty stomach|eating|breakfast)", "administration"),
    (r"what should WHO do (?:if|when) WHO (?:forget|forgets|forgot|miss|misses|missed|skip|skipped)(?: to take| taking)?(?: (?:a|one|my|the) (?:dose|pill|tablet))?(?: of)? X", "missed dose"),
    (r"(?:what (?:is|are) )?(?:the )?(?:usual |normal |maximum |right |correct |recommended |safe |daily |starting )*(?:dosages?|doses?|dosing) (?:of|for) X", "dosage"),
    (r"how (?:much|many(?: (?:mg|milligrams?|tablets?|pills?|capsules?|drops|units))?)(?: of)? X (?:should|can|could|may|do|does|must) WHO (?:safely )?(?:take|give|have|use|get)\b.*", "dosage"),
    (r"how often (?:should|can|could|may|do|must) WHO (?:safely )?(?:take|give|use|apply|inject) X", "dosage"),
    (r"(?:what (?:to|should WHO) do )?in case of (?:an )?(?:emergency or )?overdose (?:of|on|with) X", "overdose"),
    (r"what happens (?:if|when) WHO (?:take|takes|took) too (?:much|many) X", "overdose"),
    (r"(?:can|could) WHO overdose on X", "overdose"),
    (r"how (?:much|many) X (?:is|are) (?:too much|too many|toxic|lethal|dangerous)", "overdose"),
    # medicines: what can go wrong, and for whom
    (r"(?:is|are) X (?:safe|ok|okay|dangerous|harmful)(?: to (?:take|use))? (?:in|during|while|when|if|for)\b.{0,30}? (?:pregnan\w+|trying to conceive)", "pregnancy"),
    (r"(?:(?:can|should|may|could) WHO|is it (?:safe|ok|okay|dangerous) to) (?:take|use|have|get) X (?:in|during|while|when|if|for)\b.{0,30}? (?:pregnan\w+|trying to conceive)", "pregnancy"),
    (r"(?:can|should|may|could) pregnant women (?:take|use|have|get) X", "pregnancy"),
    (r"(?:does|can|could|will) X (?:affect|harm|hurt) (?:my |the |an? )?(?:unborn (?:baby|child)|fetus|pregnancy)", "pregnancy"),
    (r"(?:is|are) X (?:safe|ok|okay|dangerous|harmful)(?: to (?:take|use))? (?:in|during|while|when|if|for)\b.{0,30}? (?:breast[- ]?feed\w*|nursing|lactat\w+)", "breastfeeding"),
    (r"(?:(?:can|should|may|could) WHO|is it (?:safe|ok|okay|dangerous) to) (?:take|use|have|get) X (?:in|during|while|when|if|for)\b.{0,30}? (?:breast[- ]?feed\w*|nursing|lactat\w+)", "breastfeeding"),
    (r"(?:does|do|can|will) X (?:get|pass|go) into (?:my |the )?breast ?milk", "breastfeeding"),
    (r"(?:what|which) (?:are|is) (?:the )?(?:possible |common |long[- ]term |serious |most common )*(?:side[- ]?[ea]ffects?|adverse (?:effects?|reactions?|events?))(?: (?:or|and) risks?)? (?:of|from|for|with|when taking|to) (?:taking )?X", "side effects"),
    (r"(?:does|do|can) X (?:have|cause) (?:any )?(?:serious |bad |long[- ]term )*(?:side[- ]?[ea]ffects?|adverse (?:effects?|reactions?))", "side effects"),
    (r"are there (?:any )?(?:serious |bad |long[- ]term )*(?:side[- ]?[ea]ffects?|adverse (?:effects?|reactions?)) (?:of|from|to|with) X", "side effects"),
    (r"what to do in case of (?:a |an )?(?:severe|allergic|bad) reaction to X", "side effects"),
    (r"(?:is|are) X (?:addictive|habit[- ]forming)", "side effects"),
    (r"(?:what are |are there )?(?:the |any )?(?:known )?(?:drug )?interactions? (?:between|of|with|for) X(?: (?:and|with) (?:other |any )?(?:medications?|medicines?|drugs?|foods?|herbs|supplements|herbs and supplements|alcohol))?", "interactions"),
    (r"(?:what|which) (?:other )?(?:medications?|medicines?|drugs?|foods?|herbs|supplements) (?:will |can |may |might )?interact with X", "interactions"),
    (r"(?:does|do|can|could|will) X interact(?: together| with each other)?", "interactions"),
    (r"(?:does|do|can|could|will) X interact with Y", "interactions"),
    (r"(?:is|are) X (?:safe|ok|okay|all right|alright|dangerous|harmful) (?:to (?:take|use) )?with Y", "interactions"),
    (r"(?:(?:can|could|may|should) WHO|is it (?:safe|ok|okay|all right|alright|dangerous) to|what happens if WHO) (?:take|use|mix|combine|drink) X (?:and|with|together with|along with|at the same time as|while (?:taking|on|using)|when taking|if (?:i am|i'm|you are) (?:taking|on)) Y", "interactions"),
    (r"(?:can|could|may|should) X be (?:taken|used|mixed|combined) (?:with|together with|along with|at the same time as) Y", "interactions"),
    (r"(?:what are )?(?:the )?contraindications (?:of|for|to) X", "contraindications"),
    (r"who (?:should not|shouldn'?t|must not|cannot|can'?t|can not) (?:get|take|use|have|receive|be given) X(?P<aspects>,? and .+)?", "contraindications"),
    (r"when should X not be (?:taken|used|given)", "contraindications"),
    (r"(?:are there )?(?:any )?(?:safety concerns|(?:special )?precautions|warnings)(?: (?:or|and) (?:special )?(?:precautions|warnings))? (?:about|with|for|of|when taking) X", "precautions"),
    (r"what (?:important )?(?:warnings?|precautions?)(?: or information)? should WHO (?:know about|take with|follow with) X", "precautions"),
    (r"(?:is|are) X safe(?: (?:for|to) .+)?", "precautions"),
    (r"(?:how safe (?:is|are)|is it safe to (?:take|use)) X", "precautions"),
    (r"what happens (?:if|when) WHO (?:stop|stops|quit|quits) (?:taking |using )X", "withdrawal"),
    (r"(?:what are |how long (?:do|does) )?(?:the )?withdrawal(?: symptoms| effects)? (?:of|from) X(?: last)?", "withdrawal"),
    (r"(?:how|when|can|should|is it safe) (?:to |(?:can |should |do )?WHO )(?:safely |suddenly |just )?(?:stop (?:taking|using)|quit taking|come off|get off|wean off|taper off|discontinue) X", "withdrawal"),
    # medicines: the rest
    (r"what should WHO know about (?:storage|disposal)(?: and disposal)? of X", "storage"),
    (r"(?:how|where) (?:to|(?:should|do|can|must) WHO) (?:store|keep|dispose of|throw away) X", "storage"),
    (r"(?:how|where) (?:should|must|can|are|is) X (?:be )?(?:stored|kept|disposed of)", "storage"),
    (r"(?:does|do) X (?:need to be refrigerated|need refrigeration|expire|go bad)", "storage"),
    (r"what (?:are|is) (?:the )?(?:brand|trade|generic|other) names? (?:of|for) (?:combination products (?:of|with) )?X", "brand names"),
    (r"what (?:is|are) the (?:actions?|mechanism of action) of X(?: and how does it work)?", "mechanism of action"),
    (r"how (?:does|do) X work", "mechanism of action"),
    (r"what (?:does|do) X do(?: (?:to|in|for) (?:the|your|my) body)?", "mechanism of action"),
    (r"how (?:effective|efficient) (?:is|are) X", "effectiveness"),
    (r"(?:how well )?(?:does|do) X (?:really |actually )?work(?: (?:for|against) .+)?", "effectiveness"),
    (r"(?:is|are) X effective(?: (?:for|against|in) .+)?", "effectiveness"),
    (r"(?:does|do|can|could|will) X (?:really |actually )?(?:help|treat|cure|relieve|ease)(?: with)? Y", "effectiveness"),
    (r"how much (?:does|do|will|would) X cost", "cost"),
    (r"(?:what (?:is|are) the (?:costs?|price) of|how expensive (?:is|are)) X", "cost"),
    # tests and operations
    (r"how (?:is|are) (?:an? )?X (?:done|performed|carried out)", "procedure"),
    (r"what happens (?:during|in|at) (?:an? )?X", "procedure"),
    (r"how (?:to|(?:should|do|can|must) WHO) (?:prepare|get ready) for X", "preparation"),
    (r"(?:what|which) preparations? (?:is|are) (?:needed|necessary|required) for X", "preparation"),
    # diet, help
    (r"what (?:special )?(?:dietary instructions|diet) should WHO follow (?:with|for|if i have|while taking) X", "diet"),
    (r"(?:what|which) (?:(?:is|are) )?(?:the )?(?:best |good |right |healthy |recommended )*(?:diets?|foods?|food)(?: (?:to (?:eat|avoid)|(?:should|can) WHO (?:eat|avoid)|(?:is|are) (?:good|bad|best)))? (?:for|with|if (?:i|you) have|when (?:i|you) have) X", "diet"),
    (r"(?:can|may|should) (?:people|someone|a person|patients) (?:with|who have|who has) X (?:eat|drink)\b.*", "diet"),
    (r"(?:can|may|should) (?!(?:WHO) )X (?:eat|drink) Y", "diet"),
    (r"what (?:should|can|can'?t|may) (?:WHO|people with|someone with) (?:eat|drink)(?: (?:or|and) (?:eat|drink|avoid))? (?:if|when|with|for|on)(?: (?:i|you|they) (?:have|has|had))? X", "diet"),
    (r"(?:(?:do|should|must) WHO|when (?:should|do|must) WHO|is it necessary to) (?:need to |have to )?(?:see|call|visit|contact|go to) (?:a |the |my |your )?(?:doctor|physician|specialist|hospital|emergency room) (?:for|about|with|if (?:i|you) have) X", "when to see a doctor"),
    (r"where (?:to|can WHO|do WHO) (?:find|get) (?:support|help)(?: groups?)? (?:for|with)(?: people with)? X", "support groups"),
    # symptoms
    (r"what (?:are|is) (?:the )?(?:(?:first |early |common |main |typical )*(?:signs? (?:and|or|&) )?symptoms?|(?:early |warning )?signs?) (?:of|for|in) X", "symptoms"),
    (r"(?:how (?:do|can|would) (?:i|you|we) (?:know|tell) (?:if|that|whether) (?:i|you|someone) (?:have|has|had|got)) X", "symptoms"),
    (r"what does X (?:feel|look) like", "symptoms"),
    # inheritance and genetics
    (r"(?:is|are|can) X (?:be )?(?:inherited|hereditary|genetic|passed (?:on|down)(?: in families| to .{1,40})?)", "inheritance"),
    (r"(?:will|can|could|would) (?:my|our|his|her|their) (?:kids?|child|children|baby|sons?|daughters?) (?:get|have|inherit|develop) X", "inheritance"),
    (r"(?:what (?:is|are) )?(?:the )?(?:chances?|odds|risks?) of passing (?:on )?X(?: on)?(?: to .{1,40})?", "inheritance"),
    (r"(?:does|do) X run in (?:the )?famil(?:y|ies)", "inheritance"),
    (r"(?:how|why) (?:is|are) X inherited", "inheritance"),
    (r"what (?:is|are) the (?:mode|pattern)s? of inheritance (?:of|for|in) X", "inheritance"),
    (r"what (?:are|is) the (?:genetic changes?|genes?|mutations?|gene mutations?)(?: (?:are|is))? (?:related to|associated with|involved in|responsible for|for|of) X", "genetics"),
    (r"(?:what|which) (?:genes?|mutations?|gene mutations?) (?:causes?|are involved in|is involved in|are linked to|is linked to) X", "genetics"),
    # risk
    (r"(?:who|which people) (?:is|are) (?:most |more )?(?:at (?:high(?:er)? )?risk|likely to (?:get|develop|have)|susceptible)(?: (?:for|of|to))?(?: (?:get|getting|develop|developing))? X", "risk factors"),
    (r"(?:what|which) (?:are|is) (?:the |my )?risks?(?: factors?)? (?:for|of) (?:getting |developing )?X", "risk factors"),
    (r"(?:who|which people) (?:gets?|develops?) X", "risk factors"),
    (r"(?:what (?:is|are) )?(?:my |the )?(?:chances?|odds|likelihood) of (?:getting|developing) X(?: if .+)?", "risk factors"),
    # diagnosis
    (r"how (?:to|do (?:doctors|you|they|i)|can (?:doctors|you|they|i|we)|(?:is|are)) (?:test for|diagnose|detect|check for|screen for) X", "diagnosis"),
    (r"how (?:is|are|can|could|would) X (?:be )?(?:diagnosed|detected|tested(?: for)?|found|confirmed|recogni[sz]ed)", "diagnosis"),
    (r"(?:what|which) (?:are|is) (?:the )?(?:tests?|exams?|diagnos(?:is|tic tests?)|exams? and tests?)(?: used| needed| done)? (?:for|of|to (?:diagnose|detect|confirm)) X", "diagnosis"),
    (r"(?:what|which) (?:tests?|exams?) (?:is|are|can|do) .{0,30}?(?:diagnose|detect|confirm|for) X", "diagnosis"),
    # prognosis
    (r"what (?:is|are) (?:the )?(?:long[- ]term )?(?:outlook|prognosis|life expectancy|survival(?: rates?)?|chances? of (?:survival|recovery)) (?:for|of|with|in|from) X", "prognosis"),
    (r"(?:is|are) X (?:curable|fatal|deadly|life[- ]threatening|terminal|dangerous|serious)", "prognosis"),
    (r"(?:can (?:i|you|people) (?:die (?:from|of)|recover from|survive)|how long (?:can|do|does|will) .{0,30}?live with|how (?:serious|dangerous|deadly) is) X", "prognosis"),
    # stages, complications
    (r"what are (?:the )?(?:stages?|staging|phases?|grades?) (?:of|for|in) X", "staging"),
    (r"(?:what|which) (?:are|is) (?:the )?(?:possible |long[- ]term )?(?:complications?|dangers?|consequences|effects) (?:of|from|for) X", "complications"),
    (r"are there (?:any )?complications (?:of|from|with) X", "complications"),
    (r"what (?:happens|problems can .{0,20}?happen) (?:if|when) X (?:is|are|goes|go) (?:not treated|untreated|left untreated)", "complications"),
    # prevention, treatment
    (r"(?:how|what) (?:to|(?:can|do|should|could) (?:i|you|we|one|people)(?: do)?(?: to)?) (?:prevent|avoid|protect (?:myself|yourself|against)|lower (?:my|your) risk (?:of|for)|reduce (?:my|your|the) risk (?:of|for))(?: (?:poisoning by|getting))? X", "prevention"),
    (r"(?:how|can) (?:can|could|is|are)?\s*X (?:be )?(?:prevented|avoided)", "prevention"),
    (r"(?:is|are) there (?:a|any) (?:vaccines?|way to prevent) (?:for|against)? ?X", "prevention"),
    (r"(?:what|which) (?:are|is) (?:the )?(?:available |best |recommended |usual |new )*(?:treatments?|therap(?:y|ies)|cures?|medications?|medicines?|meds|drugs?|remed(?:y|ies))(?: options?)?(?: used)? (?:of|for|to treat) X", "treatment"),
    (r"(?:how|what) (?:to|(?:can|do|should) (?:doctors|i|you|we|they)(?: do)?(?: to)?) (?:treat|cure|get rid of|relieve|ease|heal) X", "treatment"),
    (r"how (?:is|are|can|could|should) X (?:be )?(?:treated|cured|relieved)", "treatment"),
    (r"(?:is|are) there (?:a|an|any) (?:cures?|treatments?|medicines?|medications?) (?:for|of) X", "treatment"),
    (r"(?:what|which) (?:medicines?|drugs?|meds|medications?|treatments?) (?:help|helps|work|works|are (?:used|given|there)|is (?:used|given)) (?:for|to treat|with|against) X", "treatment"),
    # management
    (r"what to do (?:for|about|if (?:i|you) have) X", "management"),
    (r"how (?:is|are|can|could|should) X (?:be )?managed", "management"),
    (r"(?:how (?:to|(?:do|can|should) (?:i|you|we|people))) (?:live with|cope with|manage|deal with|care for(?: someone with)?) X", "management"),
    (r"what should (?:i|you|people with) (?:eat|do|avoid)(?: (?:if|when) (?:i|you) have)? X", "management"),
    (r"what should (?:i|you) (?:eat|avoid|know).{0,20}? (?:for|with|about) X", "management"),
    # frequency, research
    (r"how many (?:people|persons|adults|children|patients) (?:are affected by|have|get|suffer from|live with|are diagnosed with) X", "frequency"),
    (r"how (?:common|frequent|rare|widespread|prevalent) (?:is|are) X", "frequency"),
    (r"how often (?:does|do) X (?:occur|happen)", "frequency"),
    (r"what (?:is|are) the (?:prevalence|incidence|frequency|epidemiology) (?:of|for) X", "frequency"),
    (r"what (?:is the )?(?:new |latest |current )?(?:research|clinical trials?|studies)(?: \(or clinical trials\))? (?:is|are)? ?(?:being )?(?:done|conducted|there|available)? ?(?:for|on|into|about) X", "research"),
    (r"are there (?:any )?(?:clinical trials|studies) (?:for|on|of) X", "research"),
    # spread, cause
    (r"(?:how long )?(?:is|are) (?:someone with )?X (?:contagious|infectious|catching|transmissible)(?: (?:in|to|for|among) .+)?", "transmission"),
    (r"how (?:is|are|does|do|can) X (?:be )?(?:transmitted|spread|caught|passed(?: on)?|get (?:spread|transmitted))", "transmission"),
    (r"how (?:do|can|does) (?:i|you|people|someone|one) (?:get|catch|contract|become infected with) X", "causes"),
    (r"(?:what|which) (?:are|is) (?:the )?(?:main |common |most common |possible |underlying )*(?:causes?|reasons?|triggers?|etiology|aetiology) (?:of|for) X", "causes"),
    (r"what (?:can )?(?:causes?|triggers?|leads? to|brings? on) X", "causes"),
    (r"(?:does|do|can|could|will) X (?:cause|lead to|trigger|bring on) Y", "causes"),
    (r"why (?:do|does|did) (?:i|you|people|someone|some people|one) (?:get|have|develop) X", "causes"),
    # several aspects before a preposition: "symptoms and treatment of asthma"
    (r"(?:(?:what|which) (?:are|is)|tell me (?:about)?|explain|describe|give me|list|show(?: me)?)? ?(?:the )?(?P<aspects>[\w ,&/-]{3,60}?) (?:of|for|in|with) X", ""),
    # two things beside each other
    (r"(?:what(?:'s| is| are) )?(?:the )?differences? between X (?:and|or) Y", INFORMATION),
    (r"how (?:does|do|is|are) X (?:differ(?:ent)?) from Y", INFORMATION),
    (r"X (?:vs\.?|versus) Y", INFORMATION),
    # general
    (r"(?:do you have|is there|where can i find|i (?:need|want)|give me|i'?m looking for)(?: any| more| some)? information (?:about|on|for) X", INFORMATION),
    (r"(?:what (?:other|more) information should WHO know|(?:how|where) can WHO (?:learn|find out|read) more) about X", INFORMATION),
    (r"what (?:is|are)(?: \(are\))? (?:meant by )?X", INFORMATION),
    (r"(?:what's|whats|define|explain|describe|tell me(?: more)? about|what do (?:i|you) (?:need to )?know about|information (?:about|on)) X", INFORMATION),
)  # fmt: skip

CUES = tuple(
    Cue(re.compile(rf"^{re.sub('X|Y|WHO', lambda slot: _SLOTS[slot.group()], pattern)}$", re.IGNORECASE), aspect)
    for pattern, aspect in _TABLE
)
