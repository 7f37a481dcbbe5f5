"""Where the recorder stands in torch and in tokenizers: their entry points, wrapped while a recording lasts and put
back after it. Each module here wraps what belongs to one topic; `installed.py` puts them in place and takes them back."""
