"""Which words ask for which aspect. A table, so that a reader can see and extend what is understood.

Aspects are named as headings name them ("symptoms", "diagnosis", "prognosis"), because a query's aspect is encoded
like a heading. In `CUES` the first pattern that fits a whole question wins, so narrow ones stand before wide ones; `X`
is the slot of the entity. `ASPECT_WORDS` serves questions that fit no pattern ("asthma: causes and treatment").
"""

# ruff: noqa: E501 - one cue a line, however long
from __future__ import annotations

import re
from dataclasses import dataclass

INFORMATION = "information"
_SLOT = r"(?P<x>.+?)"


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern of whole questions; an empty aspect means that the words in its `aspects` group name them."""

    pattern: re.Pattern[str]
    aspect: str


# Left: pattern with a slot X. Right: the aspect asked for.
_TABLE = (
    # symptoms
    (r"what (?:are|is) (?:the )?(?:(?:first |early |common |main |typical )*(?:signs? (?:and|or|&) )?symptoms?|(?:early |warning )?signs?) (?:of|for|in) X", "symptoms"),
    (r"(?:how (?:do|can|would) (?:i|you|we) (?:know|tell) (?:if|that|whether) (?:i|you|someone) (?:have|has|had|got)) X", "symptoms"),
    (r"what does X (?:feel|look) like", "symptoms"),
    # inheritance and genetics
    (r"(?:is|are|can) X (?:be )?(?:inherited|hereditary|genetic|passed (?:on|down)(?: in families)?)", "inheritance"),
    (r"(?:does|do) X run in (?:the )?famil(?:y|ies)", "inheritance"),
    (r"(?:how|why) (?:is|are) X inherited", "inheritance"),
    (r"what (?:is|are) the (?:mode|pattern)s? of inheritance (?:of|for|in) X", "inheritance"),
    (r"what (?:are|is) the (?:genetic changes?|genes?|mutations?|gene mutations?)(?: (?:are|is))? (?:related to|associated with|involved in|responsible for|for|of) X", "genetics"),
    (r"(?:what|which) (?:genes?|mutations?|gene mutations?) (?:causes?|are involved in|is involved in|are linked to|is linked to) X", "genetics"),
    # risk
    (r"(?:who|which people) (?:is|are) (?:most |more )?(?:at (?:high(?:er)? )?risk|likely to (?:get|develop|have)|susceptible)(?: (?:for|of|to))?(?: (?:get|getting|develop|developing))? X", "risk factors"),
    (r"(?:what|which) (?:are|is) (?:the |my )?risks?(?: factors?)? (?:for|of) (?:getting |developing )?X", "risk factors"),
    (r"(?:who|which people) (?:gets?|develops?) X", "risk factors"),
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
    (r"what (?:happens|problems can .{0,20}?happen) (?:if|when) X (?:is|goes) (?:not treated|untreated|left untreated)", "complications"),
    # prevention, treatment
    (r"(?:how|what) (?:to|(?:can|do|should|could) (?:i|you|we|one|people)(?: do)?(?: to)?) (?:prevent|avoid|protect (?:myself|yourself|against)|lower (?:my|your) risk (?:of|for)|reduce (?:my|your|the) risk (?:of|for))(?: (?:poisoning by|getting))? X", "prevention"),
    (r"(?:how|can) (?:can|could|is|are)?\s*X (?:be )?(?:prevented|avoided)", "prevention"),
    (r"(?:is|are) there (?:a|any) (?:vaccines?|way to prevent) (?:for|against)? ?X", "prevention"),
    (r"(?:what|which) (?:are|is) (?:the )?(?:available |best |recommended |usual |new )*(?:treatments?|therap(?:y|ies)|cures?|medications?|medicines?|drugs?|remed(?:y|ies))(?: options?)?(?: used)? (?:of|for|to treat) X", "treatment"),
    (r"(?:how|what) (?:to|(?:can|do|should) (?:doctors|i|you|we|they)(?: do)?(?: to)?) (?:treat|cure|get rid of|relieve|ease|heal) X", "treatment"),
    (r"how (?:is|are|can|could|should) X (?:be )?(?:treated|cured|relieved)", "treatment"),
    (r"(?:is|are) there (?:a|an|any) (?:cures?|treatments?|medicines?|medications?) (?:for|of) X", "treatment"),
    (r"(?:what|which) (?:medicines?|drugs?|medications?|treatments?) (?:help|helps|work|works|are (?:used|given|there)|is (?:used|given)) (?:for|to treat|with|against) X", "treatment"),
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
    (r"(?:is|are) X (?:contagious|infectious|catching|transmissible)", "transmission"),
    (r"how (?:is|are|does|do|can) X (?:be )?(?:transmitted|spread|caught|passed(?: on)?|get (?:spread|transmitted))", "transmission"),
    (r"how (?:do|can|does) (?:i|you|people|someone|one) (?:get|catch|contract|become infected with) X", "causes"),
    (r"(?:what|which) (?:are|is) (?:the )?(?:main |common |most common |possible |underlying )*(?:causes?|reasons?|triggers?|etiology|aetiology) (?:of|for) X", "causes"),
    (r"what (?:can )?(?:causes?|triggers?|leads? to|brings? on) X", "causes"),
    (r"why (?:do|does|did) (?:i|you|people|someone|some people|one) (?:get|have|develop) X", "causes"),
    # several aspects before a preposition: "symptoms and treatment of asthma"
    (r"(?:(?:what|which) (?:are|is)|tell me (?:about)?|explain|describe|give me|list|show(?: me)?)? ?(?:the )?(?P<aspects>[\w ,&/-]{3,60}?) (?:of|for|in|with) X", ""),
    # general
    (r"(?:do you have|is there|where can i find|i (?:need|want)|give me|i'?m looking for)(?: any| more| some)? information (?:about|on|for) X", INFORMATION),
    (r"what (?:is|are)(?: \(are\))? (?:meant by )?X", INFORMATION),
    (r"(?:what's|whats|define|explain|describe|tell me(?: more)? about|what do (?:i|you) (?:need to )?know about|information (?:about|on)) X", INFORMATION),
)  # fmt: skip

_WORD_TABLE = (
    (r"symptoms?|signs?|(?:feels?|looks?) like|presentation|manifestations?", "symptoms"),
    (r"treat(?:ed|ment|ments|ing)?|therap(?:y|ies)|cures?|cured|medications?|medicines?|drugs?|remed(?:y|ies)|surgery", "treatment"),
    (r"diagnos(?:is|e|ed|ing|tic)|tests?|exams?|detect(?:ed|ion)?|screening", "diagnosis"),
    (r"causes?|caused|reasons?|triggers?|a?etiology|pathogenesis|why", "causes"),
    (r"prevent(?:ion|ed|ing)?|avoid(?:ed|ing)?|vaccines?|vaccination|protect(?:ion)?", "prevention"),
    (r"outlook|prognosis|life expectancy|survival|survive|curable|fatal|deadly|recovery|mortality", "prognosis"),
    (r"inherit(?:ed|ance)|hereditary|runs? in (?:the )?famil(?:y|ies)|passed (?:on|down)", "inheritance"),
    (r"genetics?|genes?|mutations?|chromosomes?", "genetics"),
    (r"risks?(?: factors?)?|susceptib(?:le|ility)|likely to get", "risk factors"),
    (r"how (?:many|common|rare|often)|prevalence|incidence|frequen(?:cy|t)|epidemiology|statistics", "frequency"),
    (r"complications?|consequences|long[- ]term effects", "complications"),
    (r"stages?|staging|grades?|phases?", "staging"),
    (r"clinical trials?|research|studies", "research"),
    (r"contagious|transmi(?:ssion|tted|ssible)|spread(?:s|ing)?|catching", "transmission"),
    (r"manag(?:e|ed|es|ement|ing)|liv(?:e|ing) with|cop(?:e|ing)|diet|self[- ]care|lifestyle", "management"),
)  # fmt: skip

CUES = tuple(Cue(re.compile(rf"^{pattern.replace('X', _SLOT)}$", re.IGNORECASE), aspect) for pattern, aspect in _TABLE)
ASPECT_WORDS = tuple((re.compile(rf"\b(?:{words})\b", re.IGNORECASE), aspect) for words, aspect in _WORD_TABLE)
