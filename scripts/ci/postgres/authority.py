"""An authority that signs certificates, by openssl."""

import shutil
import subprocess
from pathlib import Path

from tools.settings import fail

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")


class Authority:
    """A certificate authority, its files in a folder."""

    def __init__(self, folder, name):
        self.folder, self.name = Path(folder), name
        self.certificate = self.folder / f"{name}.crt"
        openssl("req", "-x509", *KEY, "-keyout", self.folder / f"{name}.key", "-out", self.certificate, "-days", "30",
                "-subj", f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE")

    def sign(self, file, subject, names=(), days=30):
        """Makes `file`.crt and `file`.key, for the names as a server's and for the subject as a client's."""
        certificate, key = self.folder / f"{file}.crt", self.folder / f"{file}.key"
        request, extensions = self.folder / f"{file}.csr", self.folder / f"{file}.ext"
        kinds = (f"{'IP' if name[0].isdigit() else 'DNS'}:{name}" for name in names)
        extensions.write_text("basicConstraints=CA:FALSE\n" + (f"subjectAltName={','.join(kinds)}\n" if names else ""))
        openssl("req", *KEY, "-keyout", key, "-out", request, "-subj", f"/CN={subject}")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.folder / f"{self.name}.key",
                "-CAcreateserial", "-days", days, "-extfile", extensions, "-out", certificate)
        key.chmod(0o600)
        return certificate, key


def openssl(*arguments):
    """Runs the program."""
    if not shutil.which("openssl"):
        fail("openssl is missing (signs certificates); install it with: apt-get install -y openssl")
    command = ["openssl", *map(str, arguments)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        fail(f"{' '.join(command)}: {done.stdout.strip()}")
