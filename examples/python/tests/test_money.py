import unittest

from ledger.money import format_amount, parse_amount


class ParseAmount(unittest.TestCase):
    def test_reads_what_people_write(self) -> None:
        for text, cents in [("12", 1200), ("12.5", 1250), ("0.07", 7), (" 1,234.50 ", 123450)]:
            with self.subTest(text):
                self.assertEqual(parse_amount(text), cents)

    def test_keeps_the_sign_below_one(self) -> None:
        self.assertEqual(parse_amount("-0.05"), -5)

    def test_refuses_what_could_mean_two_things(self) -> None:
        for text in ["", "1.234", "12,5", "1,23.00", "twelve", "1e3", "٣"]:
            with self.subTest(text), self.assertRaisesRegex(ValueError, "not an amount"):
                parse_amount(text)


class FormatAmount(unittest.TestCase):
    def test_always_has_two_digits_of_cents(self) -> None:
        self.assertEqual(format_amount(7), "0.07")
        self.assertEqual(format_amount(-5), "-0.05")

    def test_is_read_back_as_it_was(self) -> None:
        for cents in [0, 1, 99, 100, 123456789, -100, -123456]:
            with self.subTest(cents):
                self.assertEqual(parse_amount(format_amount(cents)), cents)
