"""Whole lines that pages have around their text: invitations to share, comment or read on, and picture credits.

They are never about the subject of a page. "Comments", "More information" and "Source: WHO" are not among them.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 80
"""Characters of such a line, at most."""
_SHARE: Final = r"""
    (?:be\ sociable,?\ |like\ it\?\ )?share(?:\ (?:this|it|on))?(?:\ (?:article|page|post|story))?
    | sharing\ is\ caring | (?:\S+\ ){0,6}(?:inhalt|artikel|beitrag|seite|jetzt)(?:\ \S+){0,3}\ teilen(?:/\S+)?
    | (?:inhalt|artikel|beitrag|seite|jetzt)\ teilen
    | partager(?:\ cet\ article)? | compart(?:ir|e)(?:\ (?:esta|este|la)\ \w+)?
"""
_COMMENT: Final = r"""
    (?:no|\d+)\ (?:comments?|replies|responses?) | (?:keine|\d+)\ kommentare? | neueste\ kommentare | recent\ comments
    | (?:post|leave|write|add)\ a\ (?:comment|reply) | kommentare?\ (?:schreiben|hinzufügen|verfassen)
    | comments\ are\ closed | kommentare\ sind\ geschlossen | die\ kommentarfunktion\ ist\ geschlossen
    | \d+\ (?:antworten\ zu|responses?\ to)\b.*
"""
_READ_ON: Final = r"""
    mehr\ zum\ thema\b.* | mehr\ aus\ (?:der|dem)\b.* | auch\ interessant | zum\ weiterlesen | schon\ gelesen
    | weitere\ (?:beiträge|artikel|meldungen|news)\b.* | verwandte\ (?:artikel|links|beiträge|themen\w*)
    | ähnliche\ (?:artikel|beiträge|themen) | das\ könnte\ (?:sie|dich|euch)\ (?:auch\ )?interessieren
    | neueste\ (?:artikel|beiträge) | (?:top\ themen|empfehlungen)\ (?:aus\ )?der\ redaktion
    | empfohlener\ redaktioneller\ inhalt | lesen\ sie\ (?:auch|dazu|mehr)\b.*
    | vous\ aimerez\ aussi | (?:à\ )?lire\ aussi\b.*
    | zobacz\ (?:również|też|także)\b.* | czytaj\ (?:też|również|także|więcej)\b.*
    | te\ puede\ interesar | lea?\ también\b.*
    | leer?\ más | leggi\ anche\b.* | (?:top|recent|related)\ posts\b.* | discover\ our\ latest\b.*
"""
_DO: Final = r"""
    (?:rezept\ )?drucken | drukuj | print\ (?:page|recipe|this\ page) | nach\ oben
    | back\ to\ top | zurück\ zur\ startseite
    | permalink | impressum | (?:lade|load)\ (?:more|weitere\ inhalte) | bild\ anzeigen | url\ zum\ kopieren
    | zum\ newsletter\ anmelden | newsletter\ abonnieren\b.* | subscribe\ (?:now|to\ our)\b.* | externer\ inhalt
    | war\ (?:der|dieser)\ artikel\ (?:nützlich|hilfreich) | wie\ bewerten\ sie\ diesen\ artikel
    | was\ this\ (?:article|page)\ (?:helpful|useful) | noch\ keine\ bewertungen | all\ rights\ reserved
    | advertisements? | anzeige | reklama | publicidad | pubblicità | publicité
"""
_PICTURE: Final = r"""
    (?:(?:titel|beitrags)bild|bild(?:nachweis|quelle)|fotos?)\ ?[:©].*
    | photos?(?:\ (?:by|credit|courtesy)|graph\ by)?\ ?[:©].*
    | image\ (?:credit|source)s?\ ?:.* | crédits?\ photos?\ ?:.* | getty\ images | (?:zdj(?:ęcie|\.)|fot\.)\ ?:?.*
"""
_LINE: Final = re.compile(
    rf"[\W_]*(?:{_SHARE}|{_COMMENT}|{_READ_ON}|{_DO}|{_PICTURE})[\W_]*", re.IGNORECASE | re.VERBOSE | re.DOTALL
)


def stands_around(line: str) -> bool:
    """Whether a line is one of these phrases and has at most `LONGEST` characters."""
    return len(line) <= LONGEST and _LINE.fullmatch(line) is not None
