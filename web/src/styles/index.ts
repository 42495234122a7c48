import "./theme.css";
import "./base.css";
import "./matrix.css";
import "./figure.css";
import "./print.css";
