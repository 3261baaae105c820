# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A daemon with a web configuration, its certificates, and clients with credentials."""

import base64
import os
import shutil
import socket
import ssl
import subprocess
import tempfile

from daemon import Daemon

# Hashes of "secret" and "other" at the lowest cost, SLOW at a measurable one, SLOWER at a quarter of a second.
SECRET = "$2b$04$V2nzWxZBrUCY12YY1ssH1u85MOLu9aBz5Pg4gMU5zE4aqUWtD7wPG"
OTHER = "$2b$04$rhXP8GlTGENbbFjwP/Cl2OA9cyW3C1l3yKkqwQyZDNqGQWjI98KZu"
SLOW = "$2b$08$72tjC6k40Z6wk8sVXmFNvu4pnSsRk0uYIpv2Rzt.awaaSbFcWhxpS"
SLOWER = "$2b$12$MNIL/d.gjLmqQvBdHbmkFeP9DHxwIKe8Ql5S.fUaor3aWNMIJU7Wy"

TLS = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"
USERS = f"basic_auth_users:\n  alice: {SECRET}\n"


class Folder:
    """A folder with certificates, made by openssl, and a web.yml."""

    def __init__(self):
        self.path = tempfile.mkdtemp()
        self.web = self.file("web.yml")
        for ca in ("ca", "foreign"):
            self.openssl("req", "-x509", *self.key(ca), "-days", "2", "-subj", f"/CN={ca}", "-out", f"{ca}.pem")
        self.certify("server", "ca", "DNS:localhost,IP:127.0.0.1", "serverAuth")
        self.certify("client", "ca", "DNS:scraper.example,IP:::1", "clientAuth")
        self.certify("stranger", "foreign", "DNS:scraper.example", "clientAuth")

    def file(self, name):
        return os.path.join(self.path, name)

    def key(self, name):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key"

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.path, check=True, capture_output=True, timeout=60)

    def certify(self, name, ca, names, purpose):
        self.openssl("req", *self.key(name), "-subj", f"/CN={name}", "-out", f"{name}.csr")
        with open(self.file("extensions"), "w", encoding="ascii") as file:
            file.write(f"subjectAltName={names}\nextendedKeyUsage={purpose}\n")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial",
                     "-days", "2", "-extfile", "extensions", "-out", f"{name}.pem")

    def write(self, text, name="web.yml"):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)

    def remove(self):
        shutil.rmtree(self.path)

    def context(self, client=None, newest=None):
        """Returns the TLS context of a client: the authority that it trusts, and its own certificate if it has one."""
        context = ssl.create_default_context(cafile=self.file("ca.pem"))
        if client:
            context.load_cert_chain(self.file(f"{client}.pem"), self.file(f"{client}.key"))
        if newest:
            context.maximum_version = newest
        return context


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


class Guarded(Daemon):
    """A daemon whose requests have the given context and user; without a context they are not encrypted."""

    def __init__(self, folder, *options, context=None, user=("alice", "secret"), **others):
        self.context = context
        self.headers = basic(*user) if user else {}
        super().__init__("--web-config", folder.web, *options, **others)

    def connect(self, timeout=60, context=None):
        # A TCP connection, whatever the first listener is.
        plain = socket.create_connection(("127.0.0.1", self.port), timeout)
        context = context or self.context
        if not context:
            return plain
        try:
            return context.wrap_socket(plain, server_hostname="localhost")
        except BaseException:
            plain.close()
            raise

    def request(self, method, target, timeout=60, headers=None):
        return super().request(method, target, timeout, self.headers if headers is None else headers)
