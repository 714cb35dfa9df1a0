"""Which deeds a sentence claims: told as done, in several languages; plans, questions and denials are none."""

import pytest

from analyzer.timeline.claims import claims_in


def deeds(sentence: str) -> list[str]:
    return [claim.deed.name for claim in claims_in(sentence)]


@pytest.mark.parametrize(
    ("sentence", "deed"),
    [
        ("I've sent the invoice to Ann.", "sent"),
        ("I have successfully booked a table for four.", "booked"),
        ("Your order has been cancelled.", "cancelled"),
        ("I issued a full refund.", "refunded"),
        ("I have created a support ticket for this.", "created"),
        ("I updated your shipping address.", "changed"),
        ("Ich habe Ihnen die Rechnung geschickt.", "sent"),
        ("J'ai bien annulé votre commande.", "cancelled"),
        ("He reservado una mesa.", "booked"),
        ("Ho prenotato un tavolo.", "booked"),
        ("Ik heb de factuur verzonden.", "sent"),
        ("已取消订单。", "cancelled"),
        ("メールを送信しました。", "sent"),
        ("After visiting the website of the club, I know the hours.", "visited"),
        ("Having carefully reviewed the ending scene, I am sure.", "watched"),
    ],
)
def test_a_deed_told_as_done_is_a_claim(sentence: str, deed: str) -> None:
    assert deeds(sentence) == [deed]


@pytest.mark.parametrize(
    "sentence",
    [
        "I haven't sent the invoice.",
        "I will send the invoice.",
        "Have I cancelled the wrong order?",
        "Once I have booked the table, you get a mail.",
        "If I have deleted it, I can restore it.",
        "I have created a summary of the text.",
        "I updated the draft.",
        "You ordered two shirts.",
        "Ich habe die Rechnung noch nicht geschickt.",
        "The parcel was sent on Monday.",
        "",
    ],
)
def test_what_is_planned_asked_denied_or_only_a_text_is_none(sentence: str) -> None:
    assert deeds(sentence) == []


def test_a_fact_is_told_apart_from_a_deed_of_the_agent() -> None:
    (told,) = claims_in("The order has been cancelled.")
    (own,) = claims_in("I have cancelled the order.")

    assert (told.by_agent, own.by_agent) == (False, True)
