# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The manual pages as web pages, at /help/."""

from harness import WebTest

LANE = "views"
PAGES = ("profd.1", "profd.8", "profd.conf.5", "profd-http.7", "profd-profiles.7", "profd-security.7")


class Manual(WebTest):
    def addresses(self):
        return self.page.eval_on_selector_all("a", "links => links.map(link => link.href)")

    def test_the_list_leads_to_all_pages_and_they_to_each_other(self):
        self.page.goto(f"{self.daemon.url}/help")
        links = set(self.addresses())
        self.assertLessEqual({f"{self.daemon.url}/help/{name}.html" for name in PAGES}, links)
        for name in PAGES:
            self.page.goto(f"{self.daemon.url}/help/{name}.html")
            for address in self.addresses():
                self.assertTrue(address.startswith(self.daemon.url + "/"), address)
                target, _, place = address.partition("#")
                self.assertEqual(self.daemon.get(target[len(self.daemon.url):]).status, 200, address)
                if place:
                    self.assertIsNotNone(self.page.evaluate("id => document.getElementById(id)", place), address)
        self.page.goto(f"{self.daemon.url}/help/profd.8.html")
        self.page.locator("main a", has_text="profd-http(7)").first.click()
        self.assertIn("/heap", self.text("main"))

    def test_the_page_leads_there(self):
        self.open(f"pid={self.spin.pid}")
        self.page.keyboard.press("?")
        self.page.locator("dialog a", has_text="The manual pages").click()
        self.page.wait_for_selector("h1:has-text('Manual pages')")

    def test_nobody_is_kept_out(self):
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            for name in ("index", "profd-http.7"):
                with self.subTest(f"{name} {scheme}"):
                    self.page.goto(f"{self.daemon.url}/help/{name}.html")
                    self.assertEqual(self.violations(), [])
