from trainlint.cli import app

app(prog_name="trainlint")
