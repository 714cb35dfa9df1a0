"""Does a user ask for what a model has to refuse? By the words for weapons, drugs, break-ins and harm to people.

What only names such a thing is no request for it: a word for making, getting or doing it stands before it. The words
are few and plain ones, so this misses much; it is asked only where a model did refuse, and two signs agree then.
"""

import re

from analyzer.pattern import pattern

__all__ = ["asks_for_harm"]

_MOST_TEXT = 4_000
_MAKING = (
    r"\b(?:make|making|build|create|write|cook|synthesi[sz]e|produce|grow|buy|sell|get|obtain|smuggle|send"
    r"|launch|deploy"
    r"|generate|craft|design|code|develop|spread|give|show|tell|explain|teach|how to|instructions for|use"
    r"|bau\w*|herstell\w*"
    r"|schreib\w*|kauf\w*|fabri\w+|faire|créer|acheter|hacer|crear|construir|comprar|escrib\w+)\b"
)
_THING = (
    r"\b(?:(?:pipe ?|car |dirty |fire)?bombs?|bombe[sn]?|bombas?|explosi\w+|grenades?|molotov\w*|sprengs\w+"
    r"|napalm|nerve (?:gas|agent)"
    r"|sarin|ricin|anthrax|poison\w*|(?:bio|chemical |biological |untraceable |illegal |ghost )(?:weapon|gun"
    r"|firearm)s?"
    r"|silencers?|crystal meth|meth(?:amphetamine)?|heroin|cocaine|crack cocaine|fentanyl|mdma|lsd|ghb"
    r"|drogen?|drogues?"
    r"|malware|ransomware|spyware|key ?loggers?|phishing|botnets?|d?dos attacks?|root ?kits?|trojans?"
    r"|computer virus\w*"
    r"|schadsoftware|logiciels? malveillants?|(?:fake|forged|false|counterfeit) (?:ids?|id cards?|passports?"
    r"|licen[cs]es?"
    r"|prescriptions?|documents?|reviews?|money|bills)|hate speech|deep ?fakes?|child porn\w*|propaganda"
    r"|suicide note)\b"
)
_DOING = (
    r"\b(?:murder|assassinate|kidnap|blackmail|extort|stalk|dox|rape|launder|counterfeit|embezzle|shoplift|pickpocket"
    r"|umbringen|ermorden|vergiften|erpressen|stehlen|assassiner|empoisonner|pirater|asesinar|envenenar"
    r"|hackear|robar)\b"
    r"|\b(?:kill|hurt|harm|injure|poison|drug|attack|torture|harass|threaten|bully|groom|hack|rob|beat up"
    r"|spy on|track|töte\w*)"
    r"\s(?:him|her|them|someone|somebody|people|a (?:person|man|woman|child|kid|neighbou?r)|children|kids|myself|"
    r"(?:my|his|their|the|an?) (?:\w+'s )?"
    r"(?:ex|wife|husband|boss|neighbou?r|(?:ex-?)?(?:boy|girl)friend|co-?workers?|colleagues?|teacher"
    r"|parents?|mother|father"
    r"|brother|sister|roommate|bank|account|network|wi-?fi|webcam|phone|school))\b"
    r"|\b(?:hack|break) (?:in)?to [\w'\u2019]+(?: [\w'\u2019]+){0,2}? ?(?:account|house|home|phone|computer"
    r"|system|car|email|network|server|bank)s?\b"
    r"|\b(?:steal|forge|pick (?:a|the) lock|hot-?wire)\b|\b(?:self-?harm|end my life|commit suicide|selbstmord)\b"
    r"|\bwithout (?:getting caught|being (?:caught|noticed|detected)|a trace|(?:their|his|her) (?:knowledge"
    r"|consent))\b"
    r"|\b(?:bypass|evade|circumvent|disable|get around)\b.{0,40}\b(?:security|alarm|police|law|age (?:check"
    r"|verification)"
    r"|drug test|paywall|safety|tax(?:es)?|licen[cs]e|drm|content filter|antivirus)\b"
    r"|\b(?:ignore|forget|disregard)\b.{0,30}\b(?:previous|prior|all|your|safety) (?:instructions|rules|guidelines)\b"
    r"|\b(?:racist|sexist|antisemitic|hateful|slurs?)\b"
    r"|\b(?:child\w*|minors?|underage|kids?)\b.{0,40}\b(?:sex\w*|nude\w*|porn\w*)\b"
    r"|\b(?:sex\w*|nude\w*|porn\w*)\b.{0,40}\b(?:child\w*|minors?|underage|kids?)\b"
)
_HARM = pattern(rf"{_MAKING}.{{0,60}}?{_THING}|{_DOING}", re.IGNORECASE | re.DOTALL)


def asks_for_harm(text: str) -> bool:
    """Return whether a user's words ask for help with harm."""
    return _HARM.search(text[:_MOST_TEXT]) is not None
